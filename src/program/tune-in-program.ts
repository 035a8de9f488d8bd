// Rounds of a program within a budget, and what the program says of the best in the end. Pure, but for the bench.
import { assess, type Assessed } from './assess.ts';
import { Rounds, type Assignment, type Contender, type Outcomes } from './rounds.ts';
import type { ProgramsRun } from './runs.ts';
import type { StrategyFactory } from '../search/strategy.ts';

/** A program with a configuration for each of some workloads, compiled. */
export interface RoundModule {
  readonly module: string;
  /** Workloads whose configuration could not be written into their executables. */
  readonly missing: ReadonlySet<string>;
}

/** A program that does not compile, and the workloads that the compiler blames, as far as it does. */
export interface RoundFailure {
  readonly blamed: ReadonlySet<string>;
}

/** What workloads take in one run of the program, in seconds, by key. */
export type WorkloadSeconds = ReadonlyMap<string, number>;

/** What compiles and runs a program in rounds. All of it throws StoppedError when it is stopped. */
export interface RoundBench {
  /** @param index of the round among those that are compiled at once */
  compile(assignment: Assignment, index: number): Promise<RoundModule | RoundFailure>;
  /** Times stock and these modules in turns; null for one that could not be run. */
  time(modules: readonly string[]): Promise<{
    readonly stock: WorkloadSeconds;
    readonly tuned: readonly (WorkloadSeconds | null)[];
  }>;
  /** What the program says of the best of each workload: see `assess`. */
  confirm(best: Assignment): ProgramsRun;
  /** Seconds that confirming them is likely to take beside a compile. */
  readonly confirmingSeconds: number;
}

/** How far rounds are. */
export interface RoundsProgress {
  readonly rounds: number;
  readonly workloads: number;
  /** How many times as fast as by default all workloads are together, each with its best. */
  readonly ratio: number;
  readonly secondsLeft: number;
}

export interface RoundsOptions {
  readonly budgetSeconds: number;
  readonly roundsAtOnce: number;
  readonly strategy: StrategyFactory;
  /** Seconds on a clock that never goes back. */
  readonly clock: () => number;
  readonly onProgress: (progress: RoundsProgress) => void;
  /** What became of each configuration of a round. */
  readonly note: (assignment: Assignment, outcomes: Outcomes, stock: WorkloadSeconds) => void;
}

/** A configuration is confirmed that is at least so many times as fast as the default. */
const LEAST_RATIO = 1.03;

/** So many rounds at once of which nothing could be told are the last. */
const MOST_FAILURES = 2;

/** What came of all rounds. */
export interface RoundsResult {
  readonly rounds: number;
  /** What was found for each workload, before it was confirmed. */
  readonly found: Assignment;
  /** What the program said; null where there was nothing to confirm. */
  readonly assessed: Assessed | null;
  /** Of each workload, what it took by default in each round. */
  readonly stock: ReadonlyMap<string, readonly number[]>;
}

/** Tries configurations of all contenders in rounds, as long as that brings something, and has the program confirm the best. */
export async function tuneInRounds(
  contenders: readonly Contender[],
  bench: RoundBench,
  { budgetSeconds, roundsAtOnce, strategy, clock, onProgress, note }: RoundsOptions,
): Promise<RoundsResult> {
  const end = clock() + budgetSeconds;
  const rounds = new Rounds(contenders, strategy);
  const stock = new Map<string, number[]>();
  let [slowest, compileSeconds, failures] = [0, 0, 0];
  /** Whether there is time for so much, and to confirm what was found. */
  const isTimeFor = (seconds: number) => clock() + seconds + compileSeconds + bench.confirmingSeconds < end;
  while (!rounds.isIdle && failures < MOST_FAILURES && isTimeFor(slowest)) {
    const begun = clock();
    const assignments = rounds.propose(roundsAtOnce);
    if (assignments.length === 0) break;
    const compiled = await Promise.all(assignments.map((one, i) => bench.compile(one, i)));
    compileSeconds = Math.max(compileSeconds, clock() - begun);
    const runnable = compiled.flatMap((one) => ('module' in one ? [one.module] : []));
    const times = runnable.length === 0 ? null : await bench.time(runnable);
    for (const [key, seconds] of times?.stock ?? []) stock.set(key, [...(stock.get(key) ?? []), seconds]);
    failures = runnable.length === 0 ? failures + 1 : 0;
    for (const [i, assignment] of assignments.entries()) {
      const own = compiled[i]!;
      const outcomes =
        'module' in own
          ? ratios(assignment, own, times!.stock, times!.tuned[runnable.indexOf(own.module)] ?? null)
          : failedOutcomes(assignment, own);
      rounds.observe(assignment, outcomes);
      note(assignment, outcomes, times?.stock ?? new Map<string, number>());
    }
    slowest = Math.max(slowest, clock() - begun);
    const secondsLeft = Math.max(0, end - clock());
    onProgress({ rounds: rounds.count, workloads: contenders.length, ratio: rounds.ratio, secondsLeft });
  }
  const found = new Map(
    [...rounds.bestFrom(LEAST_RATIO)].map(([key, { configuration }]) => [key, configuration]),
  );
  const assessed = found.size === 0 ? null : await assess([...found.keys()], bench.confirm(found));
  return { rounds: rounds.count, found, assessed, stock };
}

/** What one round has shown: nothing of a workload that does not run, or whose configuration is not in it. */
function ratios(
  assignment: Assignment,
  { missing }: RoundModule,
  stock: WorkloadSeconds,
  tuned: WorkloadSeconds | null,
): Outcomes {
  const outcomes = new Map<string, number | null>();
  for (const key of assignment.keys()) {
    const [before, after] = [stock.get(key), tuned?.get(key)];
    if (missing.has(key) || tuned === null || !before || !after) outcomes.set(key, null);
    else outcomes.set(key, before / after);
  }
  return outcomes;
}

/** Whoever is blamed has had its turn; where nobody is, all have. */
const failedOutcomes = (assignment: Assignment, { blamed }: RoundFailure): Outcomes =>
  new Map(
    [...assignment.keys()].filter((key) => blamed.size === 0 || blamed.has(key)).map((key) => [key, null]),
  );
