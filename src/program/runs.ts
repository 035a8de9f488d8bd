// Running a program with some of its configurations, within the time that there is.
import type { Extent } from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../measure/dispatch-times.ts';
import type { IsAnswered } from './answered.ts';
import { NO_TIME, type Ask, type ComparedResults, type ProgramRuns } from './judge.ts';
import { purseOf } from './purse.ts';
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
  /** By workload, see `dispatchesOf`. */
  readonly dispatches: ReadonlyMap<string, readonly string[]>;
}

/** A program that is not there. */
export interface Uncompiled {
  /** In one line. */
  readonly problem: string;
  /** Whether there was only too little time. */
  readonly isLate: boolean;
}

/** A function against stock's, without what it is compared with. */
export type StockContest = Omit<Contest, 'tuned'>;

/** Most pairs of processes: more of them tell little more. */
const MOST_PAIRS = 24;

/** Most seconds that one question may take. */
const MOST_SECONDS = 30;

/** How much of what is left one look gets, so that something is left for the next one; and the least, in seconds. */
const SHARE = 2 / 3;
const LEAST_SECONDS = 4;

/**
 * Timing may take so many times as long as all may, for programs of which one run takes so long that otherwise nobody would
 * know whether they are slower.
 */
const OVERDRAFT = 3;

/** What a program is asked, and what was found out on the way. */
export interface ProgramsRun extends ProgramRuns {
  /** Of each function that was compared, in their order. */
  verdictsOf(keys: readonly string[]): readonly FunctionVerdict[];
  /** Of each workload whose dispatches were timed; none where nobody has asked for times. */
  comparedIn(keys: readonly string[]): readonly ComparedWorkload[];
  /** Of each dispatch of that program by name, what it takes in one run of all functions; none where nobody has asked for times. */
  secondsIn(keys: readonly string[]): ReadonlyMap<string, number>;
  /** The same of stock, timed next to it. */
  stockSecondsBeside(keys: readonly string[]): ReadonlyMap<string, number>;
}

/**
 * @param contests one for each function that is called; at least one
 * @param compileWith compiles the program with the configurations of workloads, or says why it does not compile
 * @param seconds that all runs together may take, about
 * @param isAnswered ends the timing of a function early; nothing does when left out
 */
export function programRuns(
  contests: readonly StockContest[],
  compileWith: Ask<TunedProgram | Uncompiled>,
  seconds: number,
  isAnswered?: IsAnswered,
): ProgramsRun {
  const purse = purseOf(OVERDRAFT * seconds);
  /** What is left of the time without the overdraft. */
  const own = () => (seconds === Infinity ? Infinity : Math.max(0, purse.left - (OVERDRAFT - 1) * seconds));
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
  /** The inputs whose results say something. */
  const inputsOf = new Map<StockContest, readonly string[]>();
  const steady = new Map<StockContest, boolean>();
  const roundings = new Map<StockContest, readonly number[] | null>();

  const compareOne = async (stock: StockContest, tuned: string): Promise<Compared> => {
    const callSeconds = Math.min(MOST_SECONDS, own());
    const asked: Contest = { ...stock, tuned, inputs: inputsOf.get(stock) ?? stock.inputs };
    const result = await purse.spend(() => compareProgram(asked, callSeconds));
    inputsOf.set(stock, result.inputs);
    const contest: Contest = { ...asked, inputs: result.inputs };
    if (result.equal !== false || result.hasFailed) return result;
    // A program that differs from itself says nothing of a configuration. One look is enough.
    const isSteady =
      steady.get(stock) ??
      (await purse.spend(() => compareProgram({ ...contest, tuned: stock.stock }, callSeconds))).equal ===
        true;
    steady.set(stock, isSteady);
    if (!isSteady) return { ...result, equal: null, reason: 'its results differ from run to run' };
    // Nor does it where rounding its inputs makes as much of its results.
    let rounding = roundings.get(stock);
    if (rounding === undefined) {
      if (purse.left <= 0) return result;
      rounding = await purse.spend(() => roundingOf(contest, callSeconds));
      roundings.set(stock, rounding);
    }
    if (rounding === null || rounding.every((error) => error === 0)) return result;
    return purse.spend(() => compareProgram({ ...contest, rounding }, callSeconds));
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

  /** What one function may take of the time. */
  const extentOf = (share: number): Extent => ({
    pairs: MOST_PAIRS,
    seconds: Math.min(MOST_SECONDS, share) / contests.length,
    // The first process may be slow, and what a call takes was seen only once.
    leastSeconds: Math.min(MOST_SECONDS, purse.left) / contests.length,
  });
  /** What came of each function, in their order, until one could not be timed. */
  const time = once(async (keys): Promise<readonly Timed[]> => {
    const program = await compileWith(keys);
    if ('problem' in program) return [];
    const calls = contests.map((contest) => runsWith(keys).get(contest)?.seconds ?? 0);
    const least = Math.min(purse.left, contests.length * leastSeconds(Math.max(...calls)));
    const extent = extentOf(Math.max(SHARE * own(), Math.min(LEAST_SECONDS, own()), least));
    const all: Timed[] = [];
    for (const contest of contests) {
      const compared = runsWith(keys).get(contest);
      if (compared === undefined) break;
      const both = { ...contest, tuned: program.module };
      const timed = await purse.spend(() => timeProgram(both, compared.seconds, extent, isAnswered));
      runsWith(keys).set(contest, { ...compared, reason: timed.reason, timing: timed.timing });
      all.push(timed);
      if (timed.timing === null) break;
    }
    const some = all.flatMap(({ dispatches }) => comparedWorkloads(dispatches, program.dispatches));
    compared.set(keys.join(), mostTelling(some));
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
    stockSecondsBeside: (keys) => spent.get(keys.join())?.[0] ?? new Map<string, number>(),
  };
}

/** Of each dispatch, the mean of all processes; a function may call what another one calls. */
function secondsOf(functions: readonly (readonly DispatchTimes[])[]): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const processes of functions)
    for (const [name, one] of processes.flatMap((times) => [...times]))
      seconds.set(name, (seconds.get(name) ?? 0) + one.seconds / processes.length);
  return seconds;
}

/** Each workload once: as it was timed in the call that spends most time in it. */
function mostTelling(compared: readonly ComparedWorkload[]): ComparedWorkload[] {
  const longestLast = [...compared].sort((a, b) => a.comparison.seconds[0] - b.comparison.seconds[0]);
  return [...new Map(longestLast.map((one) => [one.key, one])).values()];
}

/** Answers a question that was asked before as it was answered then. */
function once<T>(ask: Ask<T>): Ask<T> {
  const answers = new Map<string, Promise<T>>();
  return (keys) => {
    const known = answers.get(keys.join()) ?? ask(keys);
    answers.set(keys.join(), known);
    return known;
  };
}

/** Answers as long as it is asked the same, and then anew: for what has one place for its answer. */
export function latest<T>(ask: Ask<T>): Ask<T> {
  let last: { readonly keys: string; readonly answer: Promise<T> } | null = null;
  return (keys) => {
    if (last?.keys !== keys.join()) last = { keys: keys.join(), answer: ask(keys) };
    return last.answer;
  };
}
