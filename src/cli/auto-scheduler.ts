// `iree-tuned populate --config`: a settings file of IREE's auto-scheduler, run as it is.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command as Program } from 'commander';
import { workloadsOf } from '../decision/look-up.ts';
import { readAutoScheduler, type AutoScheduler } from '../profile/auto-scheduler.ts';
import { allOf, type Measurement } from '../profile/measurement.ts';
import { splitKSlices } from '../profile/operation.ts';
import { consoleBlock } from '../profile/report.ts';
import { bestLines, longDuration } from '../profile/run-log.ts';
import { STRATEGIES } from '../search/index.ts';
import type { Site } from '../site/site.ts';
import { subjectOf } from '../store/subject.ts';
import { isExecutableFile } from '../system/files.ts';
import { atDevice, inspectInput, openDatabase, settingsOf, surroundingsOf } from './context.ts';
import { warn } from './output.ts';
import { UserError } from '../system/user-error.ts';
import {
  keepCandidates,
  profiled,
  spaceSizes,
  timedCandidates,
  writeCsv,
  writeRunLog,
  type Profiled,
} from './profiling.ts';
import { search } from './search.ts';
import { restrictedTo } from './search-space.ts';
import { isOperationWork } from '../workload/workload.ts';

/** For each operation, where nobody gives a budget: such files count trials, not seconds. */
const SECONDS_EACH = 600;

export interface AutoSchedulerRun {
  /** Of the settings file. */
  readonly path: string;
  /** The compiler's own. */
  readonly flags: readonly string[];
  /** For all operations together; `SECONDS_EACH` for each where it is left out. */
  readonly budgetSeconds?: number | undefined;
  /** A folder for every candidate. */
  readonly keep?: string | undefined;
}

/**
 * Searches every contraction of the file's input, whatever is known of it, and writes what the auto-scheduler writes.
 * Paths in the file are relative to its folder.
 */
export async function runAutoScheduler(
  { path, flags, budgetSeconds, keep }: AutoSchedulerRun,
  program: Program,
): Promise<void> {
  const begun = new Date();
  const clock = () => performance.now() / 1000;
  const start = clock();
  const asked = readAutoScheduler(readFileSync(path, 'utf8'), path);
  const folder = dirname(resolve(path));
  const input = resolve(folder, asked.input);
  if (!existsSync(input)) throw new UserError(`${path}: input_file ${asked.input}: there is no ${input}`);
  const strategy = STRATEGIES[asked.strategy]!;
  const compiler = compilerOf(asked, folder, program);
  const surroundings = surroundingsOf(program, compiler === null ? {} : { compiler });
  const { command, inspected: read } = await inspectInput(input, flags, surroundings);
  const store = await openDatabase(surroundings);
  const inspected = atDevice(read, store, surroundings);
  const { site } = inspected;
  if (site.whyNotHere !== null) throw new UserError(`${asked.input}: ${site.whyNotHere.reason}`);
  warnOf(asked, path, site);
  const all = workloadsOf(inspected.input, site, surroundings.settings);
  const alone = all.filter(({ workload }) => isOperationWork(workload));
  const works = restrictedTo(alone, site, asked.space);
  if (works.length === 0) throw new UserError(`${asked.input}: there is no contraction that could be tuned`);
  const spaces = spaceSizes(works, site);

  console.log(`${asked.tuner}: the strategy ${asked.strategy} takes its place; ${asked.trials} trials each.`);

  const preparingSeconds = clock() - start;
  const earlier = new Map(works.map((work) => [work.key, store.trials(subjectOf(work, site)).length]));
  const { settings } = surroundings;
  const ownSettings = { ...settings, budgetSeconds: budgetSeconds ?? SECONDS_EACH * works.length };
  const { whyNot } = await search(
    works,
    store,
    { command, site, waitedSeconds: inspected.input.waitedSeconds },
    { ...surroundings, settings: ownSettings },
    // All trials are made, however little they bring.
    {
      strategy,
      effort: { maxTrials: asked.trials, patience: Infinity },
      again: new Set(works.map(({ key }) => key)),
    },
  );
  const searchSeconds = clock() - start - preparingSeconds;
  const found = profiled(works, store, site, splitKSlices(command.expanded), earlier);
  store.close();

  const every = found.flatMap(({ measurements }) => allOf(measurements));
  for (const one of every) console.log(consoleBlock(one));
  if (asked.output !== null) {
    const output = resolve(folder, asked.output);
    writeCsv(output, every, [], false);
    const valid = timedCandidates(every);
    writeRunLog(output, { begun, preparingSeconds, searchSeconds, spaceSizes: spaces, valid });
  }
  if (keep !== undefined) await keepCandidates(keep, every, site, surroundings);
  console.log('\n********************************************************');
  for (const one of found) {
    if (found.length > 1) console.log(`Operation     : ${one.operation.name}`);
    console.log(`${bestLines(bestOf(one))}\n`);
  }
  console.log(longDuration(searchSeconds));
  console.log('********************************************************');
  for (const { operation, trials } of found) {
    if (trials.length > 0) continue;
    warn(`nothing of ${operation.name} was measured: ${whyNot.reason}`);
    process.exitCode = 1;
  }
}

/** What was decided for, else the fastest of what was tried: that builds get something else, which was found earlier. */
function bestOf({ decided, measurements: { stock, others, best } }: Profiled): Measurement {
  if (best !== null || decided !== null) return best ?? stock;
  return [stock, ...others]
    .filter(({ verification }) => verification !== 'FAILED')
    .reduce((a, b) => ((b.ratio ?? 0) > (a.ratio ?? 0) ? b : a));
}

/** The compiler of the file's tools; null where another one is named, or it is left to be found. */
function compilerOf({ tools }: AutoScheduler, folder: string, program: Program): string | null {
  const isGiven = settingsOf(program).settings.compiler !== undefined;
  if (tools === null || isGiven) return null;
  const compiler = join(resolve(folder, tools), 'iree-compile');
  if (isExecutableFile(compiler)) return compiler;
  warn(`iree_bin: there is no ${compiler}; the compiler is searched for`);
  return null;
}

function warnOf({ gpuOnly }: AutoScheduler, path: string, { target }: Site): void {
  const { backend } = target.target;
  if (gpuOnly.length > 0 && backend === 'llvm-cpu')
    warn(`${path}: ${gpuOnly.join(', ')} mean something on GPUs only, and nothing for ${backend}`);
}
