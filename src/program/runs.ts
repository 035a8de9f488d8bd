// Runs a program with subsets of its configurations, within a time budget.
import type { Extent } from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../measure/dispatch-times.ts';
import type { IsAnswered } from './answered.ts';
import { NO_TIME, type ProgramQuery, type ComparedResults, type ProgramRuns } from './judge.ts';
import { timeBudget } from './time-budget.ts';
import {
  comparedWorkloads,
  isSlower,
  LEAST_RATIO,
  slowerWorkloads,
  type ComparedWorkload,
  type SlowerWorkload,
} from './slower.ts';
import { callName } from '../input/signature.ts';
import type { FunctionVerdict } from './verdict.ts';
import {
  compareProgram,
  leastSeconds,
  roundingOf,
  timeProgram,
  type Compared,
  type Contest,
  type Timed,
  type Verdict,
} from './verify.ts';

/** The program with the configurations of some workloads. */
export interface TunedProgram {
  readonly module: string;
  /** Names of dispatches by workload key: see `dispatchesOf`. */
  readonly dispatches: ReadonlyMap<string, readonly string[]>;
}

/** A program that was not compiled. */
export interface Uncompiled {
  /** The error, in one line. */
  readonly problem: string;
  /** Whether the time ran out. */
  readonly isLate: boolean;
}

/** A contest without its tuned module. */
export type StockContest = Omit<Contest, 'tuned'>;

/** More pairs of processes narrow the interval little. */
const MOST_PAIRS = 24;

/** Time limit of one query. */
const MOST_SECONDS = 30;

/** Share of the remaining time for one query, so that time is left for the next query. */
const SHARE = 2 / 3;
const LEAST_SECONDS = 4;

/** Timing may exceed the budget by this factor. Otherwise a loss would stay unknown in programs with slow runs. */
const OVERDRAFT = 3;

/** Queries about a program, and the results of earlier queries. Before a query about times, the results of timing are empty. */
export interface ProgramsRun extends ProgramRuns {
  /** Verdicts on all compared functions, in the order of the contests. */
  verdictsOf(keys: readonly string[]): readonly FunctionVerdict[];
  /** Workloads whose dispatches were timed. */
  comparedIn(keys: readonly string[]): readonly ComparedWorkload[];
  /** Seconds of each dispatch in one run of all functions, by name. */
  secondsIn(keys: readonly string[]): ReadonlyMap<string, number>;
  /** The same for stock, from the same pairs of processes. */
  stockSecondsIn(keys: readonly string[]): ReadonlyMap<string, number>;
}

/**
 * @param contests one for each called function; at least one
 * @param compileWith compiles the program with the configurations of these workloads
 * @param seconds for all runs together, about
 * @param isAnswered ends the timing of a function early
 */
export function programRuns(
  contests: readonly StockContest[],
  compileWith: ProgramQuery<TunedProgram | Uncompiled>,
  seconds: number,
  isAnswered?: IsAnswered,
): ProgramsRun {
  const budget = timeBudget(OVERDRAFT * seconds);
  /** Remaining seconds without the overdraft. */
  const own = () => (seconds === Infinity ? Infinity : Math.max(0, budget.left - (OVERDRAFT - 1) * seconds));
  const runs = new Map<string, Map<StockContest, Compared & Partial<Pick<Verdict, 'timing'>>>>();
  const runsWith = (keys: readonly string[]) => {
    const own = runs.get(keys.join()) ?? new Map<StockContest, Compared & Partial<Pick<Verdict, 'timing'>>>();
    runs.set(keys.join(), own);
    return own;
  };
  const compared = new Map<string, readonly ComparedWorkload[]>();
  const spent = new Map<
    string,
    readonly [stock: ReadonlyMap<string, number>, tuned: ReadonlyMap<string, number>]
  >();
  /** Inputs with usable results. */
  const inputsOf = new Map<StockContest, readonly string[]>();
  const steady = new Map<StockContest, boolean>();
  const roundings = new Map<StockContest, readonly number[] | null>();

  const compareOne = async (stock: StockContest, tuned: string): Promise<Compared> => {
    const callSeconds = Math.min(MOST_SECONDS, own());
    const asked: Contest = { ...stock, tuned, inputs: inputsOf.get(stock) ?? stock.inputs };
    const result = await budget.spend(() => compareProgram(asked, callSeconds));
    inputsOf.set(stock, result.inputs);
    const contest: Contest = { ...asked, inputs: result.inputs };
    if (result.equal !== false || result.hasFailed) return result;
    // If stock's results differ from run to run, a difference proves nothing. One comparison is enough.
    const isSteady =
      steady.get(stock) ??
      (await budget.spend(() => compareProgram({ ...contest, tuned: stock.stock }, callSeconds))).equal ===
        true;
    steady.set(stock, isSteady);
    if (!isSteady) return { ...result, equal: null, reason: 'its results differ from run to run' };
    // A difference proves nothing either if rounded inputs change stock's results as much.
    let rounding = roundings.get(stock);
    if (rounding === undefined) {
      if (budget.left <= 0) return result;
      rounding = await budget.spend(() => roundingOf(contest, callSeconds));
      roundings.set(stock, rounding);
    }
    if (rounding === null || rounding.every((error) => error === 0)) return result;
    return budget.spend(() => compareProgram({ ...contest, rounding }, callSeconds));
  };

  const compare = async (keys: readonly string[]): Promise<ComparedResults> => {
    const program = await compileWith(keys);
    if ('problem' in program)
      return {
        results: program.isLate ? 'unknown' : 'failed',
        reason: `it does not compile: ${program.problem}`,
      };
    for (const contest of contests) {
      if (own() <= 0) return { results: 'unknown', reason: NO_TIME.reason };
      const result = await compareOne(contest, program.module);
      runsWith(keys).set(contest, result);
      if (result.equal === true) continue;
      const reason = `${result.reason ?? 'there are no results'} (@${callName(contest.function)})`;
      if (result.equal === null) return { results: 'unknown', reason };
      return { results: result.hasFailed ? 'failed' : 'different', reason };
    }
    return { results: 'equal', reason: null };
  };

  /** Limits for the timing of one function. */
  const extentOf = (share: number): Extent => ({
    pairs: MOST_PAIRS,
    seconds: Math.min(MOST_SECONDS, share) / contests.length,
    // The time of a call comes from one process, which may be slow, so allow more time for the first pairs.
    leastSeconds: Math.min(MOST_SECONDS, budget.left) / contests.length,
  });
  /** Times of the functions in the order of the contests, up to the first function that cannot be timed. */
  const time = once(async (keys): Promise<readonly Timed[]> => {
    const program = await compileWith(keys);
    if ('problem' in program) return [];
    const calls = contests.map((contest) => runsWith(keys).get(contest)?.seconds ?? 0);
    const least = Math.min(budget.left, contests.length * leastSeconds(Math.max(...calls)));
    const extent = extentOf(Math.max(SHARE * own(), Math.min(LEAST_SECONDS, own()), least));
    const all: Timed[] = [];
    for (const contest of contests) {
      const compared = runsWith(keys).get(contest);
      if (compared === undefined) break;
      const both = { ...contest, tuned: program.module };
      const timed = await budget.spend(() => timeProgram(both, compared.seconds, extent, isAnswered));
      runsWith(keys).set(contest, { ...compared, reason: timed.reason, timing: timed.timing });
      all.push(timed);
      if (timed.timing === null) break;
    }
    const some = all.flatMap(({ dispatches }) => comparedWorkloads(dispatches, program.dispatches));
    compared.set(keys.join(), longestOfEach(some));
    const secondsAt = (side: 0 | 1) =>
      secondsOf(all.map(({ dispatches }) => dispatches.map((pair) => pair[side])));
    spent.set(keys.join(), [secondsAt(0), secondsAt(1)]);
    return all;
  });

  const slower = async (keys: readonly string[]): Promise<readonly SlowerWorkload[]> => {
    const program = await compileWith(keys);
    if ('problem' in program) return [];
    const found = new Map<string, SlowerWorkload>();
    for (const { dispatches } of await time(keys))
      for (const one of slowerWorkloads(dispatches, program.dispatches))
        if (!found.has(one.key)) found.set(one.key, one);
    return [...found.values()];
  };

  const ratio = async (keys: readonly string[]): Promise<number | null> => {
    const timings = (await time(keys)).flatMap(({ timing }) => timing ?? []);
    const slowest = timings.filter(isSlower).map((timing) => timing.ratio);
    if (slowest.length > 0) return Math.min(...slowest);
    const isKnown =
      timings.length === contests.length && timings.every((timing) => timing.ratio >= LEAST_RATIO);
    return isKnown ? 1 : null;
  };

  return {
    compare: once(compare),
    slower,
    ratio,
    verdictsOf: (keys) =>
      [...runsWith(keys)].map(([contest, { equal, maxError, reason, timing = null }]) => ({
        name: callName(contest.function),
        ...{ equal, maxError, reason, timing },
      })),
    comparedIn: (keys) => compared.get(keys.join()) ?? [],
    secondsIn: (keys) => spent.get(keys.join())?.[1] ?? new Map<string, number>(),
    stockSecondsIn: (keys) => spent.get(keys.join())?.[0] ?? new Map<string, number>(),
  };
}

/** Mean seconds of each dispatch over all processes of a function, summed over the functions that call it. */
function secondsOf(functions: readonly (readonly DispatchTimes[])[]): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const processes of functions)
    for (const [name, one] of processes.flatMap((times) => [...times]))
      seconds.set(name, (seconds.get(name) ?? 0) + one.seconds / processes.length);
  return seconds;
}

/** One entry for each workload: that of the function in which stock spends most time in it. */
function longestOfEach(compared: readonly ComparedWorkload[]): ComparedWorkload[] {
  const longestLast = [...compared].sort((a, b) => a.comparison.seconds[0] - b.comparison.seconds[0]);
  return [...new Map(longestLast.map((one) => [one.key, one])).values()];
}

/** Remembers all answers. */
function once<T>(ask: ProgramQuery<T>): ProgramQuery<T> {
  const answers = new Map<string, Promise<T>>();
  return (keys) => {
    const known = answers.get(keys.join()) ?? ask(keys);
    answers.set(keys.join(), known);
    return known;
  };
}

/** Remembers the last answer only: for a query that writes its answer to one file. */
export function latest<T>(ask: ProgramQuery<T>): ProgramQuery<T> {
  let last: { readonly keys: string; readonly answer: Promise<T> } | null = null;
  return (keys) => {
    if (last?.keys !== keys.join()) last = { keys: keys.join(), answer: ask(keys) };
    return last.answer;
  };
}
