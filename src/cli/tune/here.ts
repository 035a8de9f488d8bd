// Tunes the work of a request on this machine.
import type { WrittenKnob } from '../../backend/user-space.ts';
import type { MeasuringTools } from '../../compiler/find.ts';
import {
  describeDone,
  describeProgram,
  describeStart,
  type ProgramResults,
} from '../../populate/describe.ts';
import { executorHere } from '../../populate/executor.ts';
import { secondsOfSearch, type Plan } from '../../populate/plan.ts';
import { isInterrupted, populate, type Executor, type Populated } from '../../populate/populate.ts';
import { concludePrograms, PROGRAM_SECONDS, tunePrograms } from '../../populate/programs.ts';
import { planRequest, type RequestPlan, type Run } from '../../populate/request.ts';
import { sumOf } from '../../measure/statistics.ts';
import { lineDisplay } from '../../report/progress.ts';
import { formatDuration } from '../../system/format.ts';
import { searchInWords } from '../../report/terminal.ts';
import type { TuningProgress } from '../../tuning/search-job.ts';
import { STRATEGIES } from '../../search/index.ts';
import { EFFORT_ALONE } from '../../tuning/search-job.ts';
import { likelyCompilesAtOnce } from '../../tuning/here.ts';
import type { SearchOptions } from '../command.ts';
import { restricted } from '../search.ts';
import { interrupts } from '../interrupt.ts';

export interface TimedRun extends Run {
  readonly budgetSeconds: number | undefined;
  /** Scratch folder. */
  readonly folder: string;
}

export interface Means extends Pick<SearchOptions, 'strategy' | 'trials'> {
  readonly tools: MeasuringTools | null;
  /** Number of parallel compiles; by default as many as fit the machine. */
  readonly jobs?: number;
  /** Values that `--search-space` allows; null for all. */
  readonly written: readonly WrittenKnob[] | null;
  /** Run every program at the end, even if its verdict is known. */
  readonly verifyProgram?: boolean;
}

/** Tunes programs as wholes, then workloads alone, then runs each program with all configurations. */
export async function tuneHere(
  first: RequestPlan,
  run: TimedRun,
  { tools, jobs = likelyCompilesAtOnce(), written, strategy, trials, verifyProgram = false }: Means,
): Promise<{ plan: RequestPlan; results: readonly Populated[]; found: ProgramResults }> {
  const { request, sites, knowledge, budgetSeconds = Infinity, folder } = run;
  const end = performance.now() + 1000 * budgetSeconds;
  const secondsLeft = () => Math.max(0, (end - performance.now()) / 1000);
  const tuned = await tunePrograms(first.programs, run, budgetSeconds, (program, number) => {
    const what = `${program.source}: ${describeProgram(program)}`;
    process.stderr.write(`iree-tuned: program ${number} of ${first.programs.length}, ${what}\n`);
  });
  const plan = tuned.length === 0 ? first : await planRequest(run);
  const lastSeconds = Math.min(LAST_SHARE * secondsLeft(), PROGRAM_SECONDS * request.programs.length);
  const results = await carryOut(plan, secondsLeft() - lastSeconds, jobs, (onProgress) => {
    const executor = executorHere(sites, knowledge, {
      ...{ tools, folder, jobs, onProgress },
      strategy: STRATEGIES[strategy]!,
      effort: { ...EFFORT_ALONE, maxTrials: trials ?? EFFORT_ALONE.maxTrials },
    });
    return {
      ...executor,
      tune: (works, again, site, group) =>
        executor.tune(restricted(works, sites[site]!.site, written), again, site, group),
    };
  });
  const concluded = isInterrupted(results) ? [] : await concludePrograms(run, secondsLeft(), verifyProgram);
  return { plan, results, found: { tuned, concluded } };
}

/** Share of the remaining time that is kept for the last run of each program. */
const LAST_SHARE = 0.25;

/** Carries a plan out, and shows the progress. The first Ctrl-C ends the search and decides by its trials; the second ends the process. Trials are kept. */
async function carryOut(
  plan: Plan,
  budgetSeconds: number,
  atOnce: number,
  executorFor: (onProgress: (progress: TuningProgress) => void) => Executor,
): Promise<Populated[]> {
  const clock = () => performance.now() / 1000;
  const begun = clock();
  const total = plan.todo.length;
  let done = 0;
  let measured = 0;
  const trials = new Map<string, number>();
  const secondsLeft = () => {
    const seconds = clock() - begun;
    const each = secondsOfSearch(plan, { measured, trials: sumOf([...trials.values()]), seconds });
    return Math.max(0, Math.min(budgetSeconds - seconds, each * (total - done)));
  };
  const display = lineDisplay();
  const say = (text: string) => {
    display.clear();
    process.stderr.write(`iree-tuned: ${text}\n`);
  };
  if (total > 0) say(describeStart(plan, budgetSeconds));
  const executor = executorFor((progress) => {
    trials.set(progress.workload, progress.trials);
    const left = `about ${formatDuration(Math.ceil(secondsLeft()))} left`;
    display.show(`iree-tuned: ${done + 1} of ${total}, ${left}; ${searchInWords(progress)}`);
  });
  using signals = interrupts(display.clear);
  const { finishEarly, abort } = signals;
  return await populate(plan, executor, {
    ...{ budgetSeconds, atOnce, finishEarly, signal: abort, clock },
    onDone: (one) => {
      done++;
      if (!one.wasKnown) measured++;
      if (!finishEarly.aborted || one.result !== null) say(describeDone(one, done, total, secondsLeft()));
    },
  }).finally(display.clear);
}
