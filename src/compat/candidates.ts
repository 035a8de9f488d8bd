// Candidates as programs of their own: written for reading, or compiled for a target without a device.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Configuration, isDefault } from '../backend/configuration.ts';
import { backendNamed, backendOf, configurationKey, needsOf } from '../backend/index.ts';
import { candidateModule, candidateOf, moduleWithFillers } from '../measure/candidate-module.ts';
import { moduleAt } from '../measure/common-modules.ts';
import { runCompiler } from '../measure/toolchain.ts';
import { STRATEGIES } from '../search/index.ts';
import type { SearchSpace } from '../search/space.ts';
import { seededRandom } from '../search/strategy.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { placeOf } from '../store/subject.ts';
import { makeFolder } from '../system/folder.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { likelyCompilesAtOnce } from '../tuning/here.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { candidatePhase, needsProgram, type Workload, workloadKey } from '../workload/workload.ts';
import type { AutoScheduler } from './auto-scheduler.ts';
import { configurationName, type Measurement, measurementsOf, type Profiled } from './measurement.ts';
import { operationsOf } from './operation.ts';
import { csvHeader, csvRow } from './report.ts';

/** Writes every candidate as MLIR into a folder, and a CSV of the results. */
export async function keepCandidates(
  folder: string,
  all: readonly Measurement[],
  site: Site,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): Promise<void> {
  makeFolder(folder);
  await withScratchFolder(cacheDirectory, 'candidates', async (workDirectory) => {
    const rows: string[] = [];
    for (const one of all) {
      const { operation, configuration } = one;
      const program = await candidateProgram(one, site, workDirectory);
      const name = program && `${operation.name}/${configurationName(configuration)}.mlir`;
      if (name !== null) {
        makeFolder(dirname(join(folder, name)));
        writeFileSync(join(folder, name), program!.text);
      }
      rows.push(csvRow(one, [], [name, one.message]));
    }
    writeFileSync(join(folder, 'candidates.csv'), csvHeader([], ['File', 'Message']) + rows.join(''));
  });
}

/**
 * A function that applies one configuration to generated operands, with comments about how to compile it, and the flags to compile it. Null for
 * a dispatch, which exists in its program only, and where the compiler fails before the phase of the candidate.
 */
export async function candidateProgram(
  { workload, configuration }: Pick<Measurement, 'workload' | 'configuration'>,
  site: Site,
  workDirectory: string,
) {
  if (needsProgram(workload)) return null;
  const phase = candidatePhase(workload);
  const toolchain = {
    ...{ compiler: site.executable, compiles: new Semaphore(1), flags: site.flags },
    ...{ commonDirectory: workDirectory, workDirectory, signal: new AbortController().signal },
  };
  const fillers = moduleWithFillers(workload);
  const around = phase === null ? fillers : await moduleAt(phase, toolchain, fillers);
  if (around === null) return null;
  const from = phase === null ? [] : [`--compile-from=${phase}`];
  const own = isDefault(configuration) ? undefined : backendOf(configuration).wholeProgram;
  const flags = [...from, ...site.flags, ...(needsOf(configuration) === null ? [] : own!.flags)];
  const comments = [
    workloadKey(workload),
    configurationKey(configuration),
    `iree-compile ${flags.join(' ')}`,
  ];
  if (own?.late.isNeeded(configuration) === true)
    comments.push(
      `Its tiles apply to operations that the compiler creates in the phase ${own.late.phase}. This text lacks them.`,
    );
  const candidate = candidateOf('main', configuration, workload, site.compiler.release);
  const text =
    comments.map((line) => `// ${line}\n`).join('') + candidateModule(workload, [candidate], around);
  return { text, flags };
}

const COMPILE_SECONDS = 60;

/**
 * Compiles the configurations that a strategy proposes.
 * @param slices see `splitKSlices`
 * @returns the default and the configurations that compile, without times; and the others, each with the compiler's message
 */
export const compileOnly = (
  works: readonly Work[],
  site: Site,
  limits: Pick<AutoScheduler, 'strategy' | 'trials'>,
  slices: number | null,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
) =>
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
      found.push({ key, operation, decided: null, trials: [], stock, others, best: null });
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
  { strategy: name, trials }: Pick<AutoScheduler, 'strategy' | 'trials'>,
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
