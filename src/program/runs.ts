// Runs a program with subsets of its configurations, within a time budget.
import type { DispatchTimes } from '../backend/meter.ts';
import type { IsAnswered } from './answered.ts';
import { NO_TIME, type ProgramQuery, type ComparedResults, type ProgramRuns } from './judge.ts';
import { because, type Reason } from '../system/reason.ts';
import { timeBudget } from './time-budget.ts';
import {
  comparedWorkloads,
  isSlower,
  LEAST_RATIO,
  type ComparedWorkload,
  type SlowerWorkload,
} from './slower.ts';
import { callName, isExtraCall } from '../input/signature.ts';
import type { FunctionVerdict } from './verdict.ts';
import { comparisonOf } from '../measure/compare-modules.ts';
import { comparisonWith, type Compared } from './results.ts';
import { leastSeconds, timeProgram, type Reference, type StockContest, type Timed } from './verify.ts';
import { formatSeconds } from '../system/format.ts';

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
  /** All messages of the compiler. */
  readonly messages?: string;
}

/** More pairs of processes narrow the interval little. */
const MOST_PAIRS = 24;

/** Time limit of one query, where the fewest pairs of processes need no more. */
const MOST_SECONDS = 30;

/** Processes of at least this many seconds are timed by their results' runs. */
const LONG_PROCESS = 5;

/** Longest call. */
const LONGEST_CALL = 600;

/** Share of the remaining time for one query, so that time is left for the next query. */
const SHARE = 2 / 3;
const LEAST_SECONDS = 4;

/** Timing may exceed the budget by this factor. Otherwise a loss would stay unknown in programs with slow runs. */
const OVERDRAFT = 4;

/** Measurements of the program with the configurations of some workloads. Those of times are empty before a query about times. */
export interface Measured {
  /** Verdicts on all compared functions, in the order of the contests. */
  readonly functions: readonly FunctionVerdict[];
  /** Times of each workload's dispatches, stock against tuned. */
  readonly workloads: readonly ComparedWorkload[];
  /** Seconds of each dispatch in one run of all functions, by name. */
  readonly dispatchSeconds: ReadonlyMap<string, number>;
  /** The same for stock, from the same pairs of processes. */
  readonly stockSeconds: ReadonlyMap<string, number>;
}

export const NOT_MEASURED: Measured = {
  functions: [],
  workloads: [],
  dispatchSeconds: new Map(),
  stockSeconds: new Map(),
};

/** Queries about a program, and the measurements that answered earlier queries. */
export interface ProgramsRun extends ProgramRuns {
  measured(keys: readonly string[]): Measured;
}

/** Runs of a program that cannot run in this build. */
export const unknownRuns = (why: Reason): ProgramsRun => ({
  compare: () => Promise.resolve({ results: 'unknown', why }),
  ratio: () => Promise.resolve(null),
  slower: () => Promise.resolve([]),
  measured: () => NOT_MEASURED,
});

/**
 * The same runs of a program whose configurations each change only their own dispatches. One run with all configurations then answers
 * questions about any subset: if the results with all configurations are correct, subsets are not compiled and run. Each dispatch of a subset has
 * its code in the whole program, or stock's. Without slower configurations the program only gets faster.
 * @param all keys of all workloads with a configuration
 */
export function independentRuns(all: readonly string[], runs: ProgramsRun): ProgramsRun {
  const isRight = async () => (await runs.compare(all)).results === 'equal';
  const some =
    <T>(ask: (keys: readonly string[]) => Promise<T>) =>
    async (keys: readonly string[]): Promise<T> =>
      ask((await isRight()) ? all : keys);
  return {
    compare: some(runs.compare),
    ratio: some(runs.ratio),
    async slower(keys) {
      return (await some(runs.slower)(keys)).filter(({ key }) => keys.includes(key));
    },
    measured(keys) {
      const whole = runs.measured(all);
      const isRight = whole.functions.length > 0 && whole.functions.every(({ equal }) => equal === true);
      const seen = isRight ? whole : runs.measured(keys);
      return { ...seen, workloads: seen.workloads.filter(({ key }) => keys.includes(key)) };
    },
  };
}

/** Answers about the program with the configurations of some workloads. */
interface Known {
  readonly compared: Compared[];
  timed: readonly Timed[];
  dispatches: TunedProgram['dispatches'];
}

/**
 * @param contests one for each called function; at least one. Extra calls are the last
 * @param compileWith compiles the program with the configurations of these workloads
 * @param seconds for all runs together, about
 * @param isAnswered ends the timing of a function early
 * @param isOnce whether the runs that give the results may give the times, too, without those of dispatches
 */
export function programRuns(
  contests: readonly StockContest[],
  compileWith: ProgramQuery<TunedProgram | Uncompiled>,
  seconds: number,
  isAnswered?: IsAnswered,
  isOnce = false,
): ProgramsRun {
  const budget = timeBudget(OVERDRAFT * seconds);
  /** Remaining seconds without the overdraft. */
  const own = () => (seconds === Infinity ? Infinity : Math.max(0, budget.left - (OVERDRAFT - 1) * seconds));
  /** Number of calls that need a verdict. */
  const asked = Math.max(1, contests.filter((one) => !isExtraCall(one.function)).length);
  const answers = new Map<string, Known>();
  const knownOf = (keys: readonly string[]): Known => {
    const known = answers.get(keys.join()) ?? { compared: [], timed: [], dispatches: new Map() };
    answers.set(keys.join(), known);
    return known;
  };
  // A slow program may use the overdraft: its gain is worth most.
  const callSeconds = () => Math.min(LONGEST_CALL, Math.max(own(), Math.min(MOST_SECONDS, budget.left / 2)));
  const comparisons = contests.map((contest) => {
    const { otherBuilds = () => Promise.resolve([]) } = contest;
    return comparisonWith({ ...contest, otherBuilds: () => budget.pause(otherBuilds) });
  });

  const compare = async (keys: readonly string[]): Promise<ComparedResults> => {
    const program = await compileWith(keys);
    if ('problem' in program) {
      const reason = `it does not compile: ${program.problem}`;
      return program.isLate
        ? { results: 'unknown', why: because('results-unknown', reason) }
        : { results: 'failed', why: because('compile-failed', reason) };
    }
    for (const [i, contest] of contests.entries()) {
      // A call that only checks results may use the overdraft: without it, the comparison of all calls is lost.
      const left = isExtraCall(contest.function) ? budget.left : own();
      if (left <= 0) return { results: 'unknown', why: NO_TIME };
      const result = await budget.spend(() =>
        comparisons[i]!(program.module, callSeconds(), () => budget.left > 0),
      );
      knownOf(keys).compared.push(result);
      if (result.equal === true) continue;
      const reason = `${result.reason ?? 'there are no results'} (@${callName(contest.function)})`;
      if (result.isLate) return { results: 'unknown', why: NO_TIME };
      if (result.equal === null) return { results: 'unknown', why: because('results-unknown', reason) };
      return { results: result.hasFailed ? 'failed' : 'different', why: because('results-differ', reason) };
    }
    return { results: 'equal', why: null };
  };

  /** Times the functions in the order of the contests, up to the first function that cannot be timed. Extra calls get the time that is left. */
  const time = once(async (keys): Promise<Known> => {
    const known = knownOf(keys);
    const program = await compileWith(keys);
    if ('problem' in program) return known;
    const longest = Math.max(0, ...known.compared.flatMap(({ seconds }) => seconds));
    // A function that stock or tuned cannot run has no times.
    if (Number.isNaN(longest)) return known;
    const least = Math.min(budget.left, asked * leastSeconds(longest));
    const share = Math.max(SHARE * own(), Math.min(LEAST_SECONDS, own()), least);
    const most = Math.max(MOST_SECONDS, least);
    const extent = {
      pairs: MOST_PAIRS,
      seconds: Math.min(most, share) / asked,
      // The time of a call comes from one process, which may be slow, so allow more time for the first pairs.
      leastSeconds: Math.min(most, budget.left) / asked,
    };
    const timed: Timed[] = [];
    for (const [i, { seconds }] of known.compared.entries()) {
      const both = { ...contests[i]!, tuned: program.module };
      const { reference } = both;
      const left = isExtraCall(both.function) ? own() : extent.seconds;
      const ofCall = left < extent.seconds ? { pairs: MOST_PAIRS, seconds: left } : extent;
      const one =
        (left <= 0 ? { timing: null, dispatches: [], reason: NO_TIME.reason } : null) ??
        (reference && byOriginal(reference, seconds[1], isAnswered)) ??
        (isOnce ? byProcesses(seconds, isAnswered) : null) ??
        (await budget.spend(() => timeProgram(both, Math.max(...seconds), ofCall, isAnswered)));
      // Dispatches that are tuned in both programs would seem to gain nothing.
      timed.push(reference === undefined ? one : { ...one, dispatches: [] });
      if (one.timing === null) break;
    }
    return Object.assign(known, { timed, dispatches: program.dispatches });
  });

  const slower = async (keys: readonly string[]): Promise<readonly SlowerWorkload[]> => {
    const { timed, dispatches } = await time(keys);
    const found = timed
      .flatMap((one) => comparedWorkloads(one.dispatches, dispatches))
      .filter(({ comparison }) => isSlower(comparison));
    return found.filter(({ key }, i) => found.findIndex((one) => one.key === key) === i);
  };

  const ratio = async (keys: readonly string[]): Promise<number | null> => {
    const timings = (await time(keys)).timed.flatMap(({ timing }) => timing ?? []);
    const slowest = timings.filter(isSlower).map((timing) => timing.ratio);
    if (slowest.length > 0) return Math.min(...slowest);
    const isKnown = timings.length >= asked && timings.every((one) => one.ratio >= LEAST_RATIO);
    return isKnown ? 1 : null;
  };

  return {
    compare: once(compare),
    slower,
    ratio,
    measured(keys) {
      const { compared: all, timed, dispatches } = knownOf(keys);
      const secondsAt = (side: 0 | 1) =>
        secondsOf(timed.map((one) => one.dispatches.map((pair) => pair[side])));
      return {
        functions: all.map((one, i) => {
          const { equal, maxError } = one;
          const { function: called, reference } = contests[i]!;
          const { reason, timing } = timed[i] ?? { ...one, timing: null };
          const compared =
            one.compared && reference ? `${one.compared}; ${withReference(reference)}` : one.compared;
          return { name: callName(called), equal, maxError, compared, reason, timing };
        }),
        workloads: longestOfEach(timed.flatMap((one) => comparedWorkloads(one.dispatches, dispatches))),
        dispatchSeconds: secondsAt(1),
        stockSeconds: secondsAt(0),
      };
    },
  };
}

/** A process takes this many seconds longer than its call, at most. */
const START_SECONDS = 1;

/** Times by the processes that gave the results, if the call takes nearly all of a process, and the answer is clear; else null. */
function byProcesses(seconds: Compared['seconds'], isAnswered?: IsAnswered): Timed | null {
  const [stock, tuned] = seconds;
  // The tuned program has its whole process against it.
  const isClear = isAnswered?.([Math.log((stock - START_SECONDS) / tuned)]) === true;
  return stock < LONG_PROCESS || !isClear
    ? null
    : { timing: comparisonOf([seconds]), dispatches: [], reason: null };
}

/** Times against the original program, which is too slow to run; null if it may not be slower by far. */
function byOriginal({ originalSeconds }: Reference, tuned: number, isAnswered?: IsAnswered): Timed | null {
  const isClear = isAnswered?.([Math.log(originalSeconds / tuned)]) === true;
  return isClear ? { timing: comparisonOf([[originalSeconds, tuned]]), dispatches: [], reason: null } : null;
}

const withReference = ({ tuned, originalSeconds }: Reference): string =>
  `a call of the untuned program would take ${formatSeconds(originalSeconds)} or more, so ${tuned}, which was checked alone, is tuned in both`;

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
