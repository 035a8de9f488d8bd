// Compiles the configurations of a search for a target without a device. Nothing is measured or recorded.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CONFIGURATION, type Configuration } from '../backend/configuration.ts';
import { backendNamed, configurationKey } from '../backend/index.ts';
import { runCompiler } from '../measure/toolchain.ts';
import { STRATEGIES } from '../search/index.ts';
import { seededRandom } from '../search/strategy.ts';
import type { Point } from '../search/space.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { placeOf } from '../store/subject.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { UserError } from '../system/user-error.ts';
import { likelyCompilesAtOnce } from '../tuning/here.ts';
import type { Work } from '../tuning/tune-workloads.ts';
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
export async function compileOnly(
  works: readonly Work[],
  site: Site,
  limits: { readonly strategy: string; readonly trials: number },
  slices: number | null,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): Promise<Compiled> {
  const folder = makeScratchFolder(cacheDirectory, 'variants');
  if (folder === null) throw new UserError(`the cache folder ${cacheDirectory} cannot be written`);
  const operations = operationsOf(
    works.map(({ workload }) => workload),
    slices,
  );
  const tools = {
    ...{ compiler: site.executable, compiles: new Semaphore(likelyCompilesAtOnce()) },
    signal: new AbortController().signal,
  };
  const found: Profiled[] = [];
  const refused: string[] = [];
  try {
    for (const [i, { key, workload, options }] of works.entries()) {
      const about = { operation: operations[i]!, workload, place: placeOf(site) };
      const { stock } = measurementsOf(about, null, []);
      const compile = async (configuration: Configuration, j: number) => {
        const program = await candidateProgram({ workload, configuration }, site, folder);
        if (program === null) return 'the compiler fails before code generation';
        const path = join(folder, `${i}-${j}.mlir`);
        writeFileSync(path, program.text);
        const argv = [...program.flags, path, '-o', `${path}.vmfb`];
        const { ok, stderr, ending } = await runCompiler(tools, argv, COMPILE_SECONDS);
        return ok ? null : (/ error: (.*)/.exec(stderr)?.[1] ?? ending);
      };
      const space = backendNamed(site.target.key)!.spaceOf(workload, options);
      const wanted = [
        ...space.alternatives,
        ...proposed(STRATEGIES[limits.strategy]!(space, seededRandom(1)), limits.trials).map((point) =>
          space.configurationAt(point)!,
        ),
      ].slice(0, limits.trials);
      const problems = await Promise.all(wanted.map(compile));
      const others = wanted.flatMap((configuration, j) => {
        if (problems[j] === null) return [{ ...stock, configuration }];
        refused.push(`${configurationKey(configuration)}: ${problems[j]!}`);
        return [];
      });
      const measurements = { stock: { ...stock, configuration: DEFAULT_CONFIGURATION }, others, best: null };
      found.push({ key, operation: about.operation, decided: null, trials: [], measurements });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { found, refused };
}

/** Up to `limit` points of a strategy that learns nothing about their costs. */
function proposed(strategy: ReturnType<(typeof STRATEGIES)[string]>, limit: number): Point[] {
  const points: Point[] = [];
  while (points.length < limit) {
    const more = strategy.propose(limit - points.length);
    if (more.length === 0) break;
    strategy.observe(more.map((point) => ({ point, cost: null })));
    points.push(...more);
  }
  return points;
}
