// Rounds of a program within a budget, and the program's verdict on the best configurations. Pure, except for the bench.
import { assess, LEAST_ADVANTAGE, type Assessed } from './assess.ts';
import { sumOf } from '../measure/statistics.ts';
import { worthOf } from '../tuning/worth.ts';
import { Rounds, type Assignment, type Best, type Contender, type Outcomes } from './rounds.ts';
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

/** Seconds of a program in one run. */
export interface ProgramSeconds {
  readonly whole: number;
  /** Of a workload's dispatches, by its key: in each call that runs some of them. */
  readonly workloads: ReadonlyMap<string, readonly number[]>;
}

/** Compiles and runs a program in rounds. Every method throws StoppedError after a stop. */
export interface RoundBench {
  /** The program without any configuration that rounds try. */
  readonly stock: string;
  /** Of the workloads that can be tried in it. */
  readonly keys: ReadonlySet<string>;
  /** @param index of the round among those that are compiled at once */
  compile(assignment: Assignment, index: number): Promise<RoundModule | RoundFailure>;
  /** Times modules in turns; null for one that could not be run. */
  time(modules: readonly string[]): Promise<readonly (ProgramSeconds | null)[]>;
  /**
   * Runs of the program with the best of each workload, for `assess`.
   * @param seconds that all runs together may take, about
   */
  confirm(best: Assignment, seconds: number): ProgramsRun;
  /** Seconds of a compile before any round. */
  readonly compileSeconds: number;
  /** Seconds that confirming them takes at least beside a compile. */
  readonly confirmingSeconds: number;
}

/** The same program with something that all of its operations are offered at once. */
export interface Offer {
  /** Of the workloads that it is for. */
  readonly keys: ReadonlySet<string>;
  /** Compiles the program with it; null when it does not compile. */
  prepare(): Promise<RoundBench | null>;
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
  /** Configurations that the program has already: confirmed together with the new ones, and not tried. */
  readonly given: Assignment;
  /** Called with the result of each configuration of a round. */
  readonly note: (assignment: Assignment, outcomes: Outcomes, stock: ProgramSeconds['workloads']) => void;
}

/** A configuration is confirmed that is at least so many times as fast as the default. */
export const LEAST_RATIO = 1.03;

/** An offer takes about so many compiles: the split, its module, the round beside it, and the confirmation. */
const OFFER_COMPILES = 4;

/** So many rounds at once of which nothing could be told are the last. */
const MOST_FAILURES = 2;

/** Result of all rounds. */
export interface RoundsResult {
  readonly rounds: number;
  /** The best of each workload, before it was confirmed. */
  readonly found: Assignment;
  /** The program's verdict; null if there was nothing to confirm. */
  readonly assessed: Assessed | null;
  /** Seconds of each workload by default, once for each run beside it. */
  readonly stock: ReadonlyMap<string, readonly number[]>;
  /** Whether the result is of the program with the offer. */
  readonly isOffered: boolean;
  /** Whether rounds ended because they brought too little, and not because the time was over. */
  readonly isComplete: boolean;
  /** Whether there was no time for that. */
  readonly isOpen: boolean;
}

/**
 * Tries configurations of all contenders in rounds, as long as that brings something, and has the program confirm the best.
 * @param offer is compiled beside the first round, and gone on with where the program is faster with it; null for none
 */
export async function tuneInRounds(
  contenders: readonly Contender[],
  plain: RoundBench,
  offer: Offer | null,
  { budgetSeconds, roundsAtOnce, strategy, clock, onProgress, given, note }: RoundsOptions,
): Promise<RoundsResult> {
  const end = clock() + budgetSeconds;
  const rounds = new Rounds(contenders, strategy);
  const stock = new Map<string, number[]>();
  let bench = plain;
  let [runSeconds, failures] = [0, 0];
  let { compileSeconds } = bench;
  /** Whether there is time for so many compiles and the confirmation. */
  const isTimeFor = (compiles: number) =>
    clock() + compiles * compileSeconds + runSeconds + bench.confirmingSeconds < end;
  // The first round finds most, so it may exceed the time by its confirmation.
  const isTime = () => isTimeFor(rounds.count === 0 ? 1 : 2);
  const isTried = offer !== null && isTimeFor(OFFER_COMPILES);
  let open = isTried ? offer : null;
  while ((open !== null || !rounds.isIdle) && failures < MOST_FAILURES && isTime()) {
    const begun = clock();
    const assignments = rounds.propose(Math.max(1, roundsAtOnce - (open === null ? 0 : 1)));
    if (assignments.length === 0 && open === null) break;
    const own = bench;
    const compile = async (assignment: Assignment, i: number) => {
      const one = await own.compile(assignment, i);
      compileSeconds = Math.max(compileSeconds, clock() - begun);
      return one;
    };
    const [compiled, offered] = await Promise.all([
      Promise.all(assignments.map(compile)),
      open?.prepare() ?? null,
    ]);
    const compiledAt = clock();
    const modules = compiled.flatMap((one) => ('module' in one ? [one.module] : []));
    const times =
      modules.length === 0 && offered === null
        ? []
        : await bench.time([bench.stock, ...modules, ...(offered === null ? [] : [offered.stock])]);
    const before = times[0] ?? null;
    for (const [key, seconds] of before?.workloads ?? [])
      stock.set(key, [...(stock.get(key) ?? []), sumOf(seconds)]);
    failures = times.length === 0 ? failures + 1 : 0;
    for (const [i, assignment] of assignments.entries()) {
      const one = compiled[i]!;
      const outcomes =
        'module' in one
          ? ratios(assignment, one, before, times[1 + modules.indexOf(one.module)] ?? null)
          : failedOutcomes(assignment, one);
      rounds.observe(assignment, outcomes);
      note(assignment, outcomes, before?.workloads ?? new Map<string, number[]>());
    }
    if (offered !== null && isBetter(times.at(-1) ?? null, before, rounds.bestFrom(1), open!.keys)) {
      bench = offered;
      rounds.keepOnly(offered.keys);
      // Other code takes another time.
      ({ compileSeconds } = offered);
    }
    open = null;
    runSeconds = Math.max(runSeconds, clock() - compiledAt);
    const secondsLeft = Math.max(0, end - clock());
    onProgress({ rounds: rounds.count, workloads: contenders.length, ratio: rounds.ratio, secondsLeft });
  }
  const found = new Map(
    [...rounds.bestFrom(LEAST_RATIO)].map(([key, { configuration }]) => [key, configuration]),
  );
  const isOffered = bench !== plain;
  // The program with the offer has the given configurations already.
  const all = found.size === 0 || isOffered ? found : new Map([...given, ...found]);
  const keys = found.size === 0 && isOffered ? [...offer!.keys] : [...all.keys()];
  // More pairs of processes tell smaller gains from noise, so confirming gets all that is left.
  const confirmingSeconds = Math.max(bench.confirmingSeconds, end - clock() - compileSeconds);
  const assessed = keys.length === 0 ? null : await assess(keys, bench.confirm(all, confirmingSeconds));
  return {
    rounds: rounds.count,
    found,
    assessed,
    stock,
    isOffered,
    isComplete: rounds.count > 0 && failures < MOST_FAILURES && (rounds.isIdle || isTime()),
    isOpen: offer !== null && (!isTried || open !== null),
  };
}

/** Whether a program is faster with the offer than with the best of each workload. */
function isBetter(
  offered: ProgramSeconds | null,
  before: ProgramSeconds | null,
  best: ReadonlyMap<string, Best>,
  keys: ReadonlySet<string>,
): boolean {
  if (offered === null || before === null) return false;
  const saved = [...best].flatMap(([key, { ratio }]) =>
    keys.has(key) ? [sumOf(before.workloads.get(key) ?? []) * (1 - 1 / ratio)] : [],
  );
  return LEAST_ADVANTAGE * offered.whole < before.whole - sumOf(saved);
}

/** Ratios of one round; none for a workload that does not run, or whose configuration is missing. */
function ratios(
  assignment: Assignment,
  { missing }: RoundModule,
  before: ProgramSeconds | null,
  after: ProgramSeconds | null,
): Outcomes {
  const outcomes = new Map<string, number | null>();
  for (const key of assignment.keys()) {
    const [own, tuned] = [before?.workloads.get(key), after?.workloads.get(key)];
    const ratios = own?.map((seconds, call) => seconds / (tuned?.[call] ?? NaN));
    outcomes.set(key, missing.has(key) || !ratios || !tuned ? null : worthOf(ratios));
  }
  return outcomes;
}

/** Blamed workloads failed; if none is blamed, all did. */
const failedOutcomes = (assignment: Assignment, { blamed }: RoundFailure): Outcomes =>
  new Map(
    [...assignment.keys()].filter((key) => blamed.size === 0 || blamed.has(key)).map((key) => [key, null]),
  );
