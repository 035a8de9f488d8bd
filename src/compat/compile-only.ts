// Compiles the configurations of a search for a target without a device. Nothing is measured or recorded.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../backend/configuration.ts';
import { backendNamed, configurationKey } from '../backend/index.ts';
import { runCompiler } from '../measure/toolchain.ts';
import { STRATEGIES } from '../search/index.ts';
import { seededRandom } from '../search/strategy.ts';
import type { SearchSpace } from '../search/space.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { placeOf } from '../store/subject.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { likelyCompilesAtOnce } from '../tuning/here.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import type { Workload } from '../workload/workload.ts';
import { candidateProgram } from './candidate-files.ts';
import { measurementsOf } from './measurement.ts';
import { operationsOf } from './operation.ts';
import type { Profiled } from './profiled.ts';

/** Limit of one compile. */
const COMPILE_SECONDS = 60;

export interface Compiled {
  /** The default and the configurations that compile, without times. */
  readonly found: readonly Profiled[];
  /** The other configurations, each with the compiler's message. */
  readonly refused: readonly string[];
}

/**
 * @param limits a strategy by its name, and configurations of each workload
 * @param slices of split reductions, a flag of the compiler; null for none
 */
export const compileOnly = (
  works: readonly Work[],
  site: Site,
  limits: { readonly strategy: string; readonly trials: number },
  slices: number | null,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): Promise<Compiled> =>
  withScratchFolder(cacheDirectory, 'variants', async (folder) => {
    const compile = compilerIn(folder, site);
    const place = placeOf(site);
    const refused: string[] = [];
    const operations = operationsOf(works, slices);
    const found: Profiled[] = [];
    for (const [i, { key, workload, options }] of works.entries()) {
      const operation = operations[i]!;
      const { stock } = measurementsOf({ operation, workload, place }, null, []);
      const wanted = proposed(backendNamed(site.target.key)!.tuning(workload).space(options), limits);
      const problems = await Promise.all(wanted.map((one) => compile(workload, one)));
      const others = wanted.flatMap((configuration, j) => {
        if (problems[j] === null) return [{ ...stock, configuration }];
        refused.push(`${configurationKey(configuration)}: ${problems[j]!}`);
        return [];
      });
      found.push({ key, operation, decided: null, trials: [], measurements: { stock, others, best: null } });
    }
    return { found, refused };
  });

/** Compiles one configuration. Returns the compiler's message; null for a success. */
function compilerIn(folder: string, site: Site) {
  const tools = {
    ...{ compiler: site.executable, compiles: new Semaphore(likelyCompilesAtOnce()) },
    signal: new AbortController().signal,
  };
  let count = 0;
  return async (workload: Workload, configuration: Configuration): Promise<string | null> => {
    const program = await candidateProgram({ workload, configuration }, site, folder);
    if (program === null) return 'the compiler fails before code generation';
    const path = join(folder, `${count++}.mlir`);
    writeFileSync(path, program.text);
    const argv = [...program.flags, path, '-o', `${path}.vmfb`];
    const { ok, stderr, ending } = await runCompiler(tools, argv, COMPILE_SECONDS);
    return ok ? null : (/ error: (.*)/.exec(stderr)?.[1] ?? ending);
  };
}

/** Up to `trials` configurations of a strategy that learns nothing about their costs. */
function proposed(
  space: SearchSpace<Configuration>,
  { strategy: name, trials }: { readonly strategy: string; readonly trials: number },
): Configuration[] {
  const strategy = STRATEGIES[name]!(space, seededRandom(1));
  const found = space.alternatives.slice(0, trials);
  while (found.length < trials) {
    const points = strategy.propose(trials - found.length);
    if (points.length === 0) break;
    strategy.observe(points.map((point) => ({ point, cost: null })));
    found.push(...points.map((point) => space.configurationAt(point)!));
  }
  return found;
}
