// When a configuration counts as faster than the default. Pure.
import { sumOf, tQuantile, type Interval } from '../measure/statistics.ts';

/** What one benchmark process says of a configuration, timed interleaved with the default. */
export interface Process {
  /**
   * Where it was timed: processes with the same operands' placement and the same build share what these have to do with
   * speed, which is luck, and different strata do not.
   */
  readonly stratum: string;
  /** Logarithms of default time over the configuration's, at each size that the workload is tuned at. */
  readonly gains: readonly number[];
}

/**
 * - `claim`: it is faster, beyond doubt, in every stratum.
 * - `nothing`: it is not faster by as much as would be worth having, or it is slower at one of the sizes.
 * - `undecided`: more processes may tell.
 * - `busy`: the same, but timings differ so much from process to process that they hardly will.
 */
export type Verdict = 'claim' | 'nothing' | 'undecided' | 'busy';

export interface Judgement extends Interval {
  readonly verdict: Verdict;
}

/** Numbers of processes after which a decision is looked for. */
export const LOOKS: readonly number[] = [4, 6, 8, 10, 12, 14, 16];

/**
 * Chance, at each look, that what makes no difference seems to be faster. Small, because there are several looks and
 * several finalists: `test/tuning/rule.test.ts` counts what comes of it.
 */
const CLAIM_DOUBT = 0.0002;

/**
 * The same where timings differ much from process to process: there what is known of a spread is known from more than luck, and
 * what seems to be faster in so many disturbed processes and is not is no slower either.
 */
const BUSY_CLAIM_DOUBT = 0.0005;

/** Chance, at each look, that a gain which is worth having seems not to be there: it is only missed. */
const NOTHING_DOUBT = 0.05;

/** Of the interval that a record holds, each end. */
const INTERVAL_DOUBT = 0.005;

/** A smaller gain is not worth a configuration: nobody would see it again. */
export const LEAST_GAIN = 0.02;

/** What gains less than this at best is not looked at any longer. */
const WORTHWHILE_GAIN = 0.03;

/** Standard deviation of one timing from process to process, relative, above which a machine is busy. */
const BUSY_SPREAD = 0.04;

/** No machine has a smaller one, however much a few processes agree by chance. */
const LEAST_SPREAD = 0.01;

/** With fewer degrees of freedom, the variance within strata is known worse than the one over all processes. */
const LEAST_DEGREES = 4;

/**
 * A gain like this in each of so many processes is no luck, however much they differ: where there is time for a few only, and
 * where one that was disturbed in a configuration's favour makes all of them look uncertain.
 */
const PLAIN_GAINS: readonly (readonly [processes: number, gain: number])[] = [
  [3, 0.5],
  [5, 0.3],
  [6, 0.2],
  [8, 0.1],
];

/** What gains as much in each of its processes is hardly luck: so many of them are likely to say so. */
const LIKELY_GAIN = 0.05;
const LIKELY_PROCESSES = 8;

/** Processes that every decision takes. */
export const LEAST_PROCESSES = 3;

/**
 * What gains so much more in some processes than in the others is lucky there, or the default is not: as operands happen to lie,
 * what it reads falls into the same few lines of a cache. A program need not be so, and this is not what a record promises.
 */
const LUCKY_GAIN = 0.15;

/** A ratio is of two timings. */
const deviationOf = (spread: number) => Math.SQRT2 * spread;

interface Estimate {
  /** Of the logarithms, each stratum with the same weight. */
  readonly mean: number;
  readonly lowestStratum: number;
  /** Standard deviation of one process. */
  readonly deviation: number;
  /** Standard deviation of the mean. */
  readonly error: number;
  readonly degrees: number;
  /** The same from the spread over all processes: differences between strata count as noise too, but more is known of it. */
  readonly overAll: { readonly error: number; readonly degrees: number };
}

const meanOf = (values: readonly number[]) => sumOf(values) / values.length;

function squaresOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return sumOf(values.map((value) => (value - mean) ** 2));
}

/**
 * Mean over strata. Its error comes from the spread within them, as soon as there is enough of that; before, differences
 * between strata count as noise too.
 */
function estimate(values: readonly number[], strata: readonly string[]): Estimate {
  const groups = [...new Set(strata)].map((stratum) => values.filter((_, i) => strata[i] === stratum));
  const means = groups.map(meanOf);
  const weight = Math.sqrt(sumOf(groups.map((group) => 1 / group.length))) / groups.length;
  const from = (squares: number, degrees: number) => {
    const deviation = Math.max(deviationOf(LEAST_SPREAD), Math.sqrt(squares / degrees));
    return { deviation, error: deviation * weight, degrees };
  };
  const overAll = from(squaresOf(values), values.length - 1);
  const within = values.length - groups.length;
  const inside = within >= LEAST_DEGREES ? from(sumOf(groups.map(squaresOf)), within) : overAll;
  return { mean: meanOf(means), lowestStratum: Math.min(...means), ...inside, overAll };
}

const gainOf = ({ gains }: Process) => meanOf(gains);

/**
 * The processes that say what a record may promise: where gains fall into two groups that are plainly apart, those of the lower
 * one, else all.
 */
export function ordinary<P extends Process>(processes: readonly P[]): readonly P[] {
  const sorted = processes.toSorted((a, b) => gainOf(a) - gainOf(b));
  const gaps = sorted.slice(1).map((one, i) => gainOf(one) - gainOf(sorted[i]!));
  const widest = Math.max(...gaps);
  const lower = sorted.slice(0, gaps.indexOf(widest) + 1);
  const isApart =
    lower.length > 1 &&
    widest > Math.log1p(LUCKY_GAIN) &&
    widest > 2 * (gainOf(lower.at(-1)!) - gainOf(lower[0]!));
  return isApart ? lower : processes;
}

/** What ordinary processes show; how much they differ is known from all, each among its own. */
function promiseOf(processes: readonly Process[], all: Estimate): Estimate {
  const own = ordinary(processes);
  if (own.length === processes.length) return all;
  const others = processes.filter((one) => !own.includes(one));
  const degrees = processes.length - 2;
  const squares = squaresOf(own.map(gainOf)) + squaresOf(others.map(gainOf));
  const deviation = Math.max(deviationOf(LEAST_SPREAD), Math.sqrt(squares / degrees));
  const mean = meanOf(own.map(gainOf));
  const error = deviation / Math.sqrt(own.length);
  return { mean, lowestStratum: mean, deviation, error, degrees, overAll: { error, degrees } };
}

const reach = ({ error, degrees }: Estimate, doubt: number) => tQuantile(doubt, degrees) * error;
const lowEnd = (estimated: Estimate, doubt: number) => estimated.mean - reach(estimated, doubt);
/** Above this it is, by whichever of both spreads says more. */
const surelyAbove = (estimated: Estimate, doubt: number) =>
  Math.max(lowEnd(estimated, doubt), lowEnd({ ...estimated, ...estimated.overAll }, doubt));
const highEnd = (estimated: Estimate, doubt: number) => estimated.mean + reach(estimated, doubt);

/**
 * Judges a configuration by all processes that it was timed in.
 * @returns the verdict, by all strata; ratio and 99% interval are of the geometric mean over sizes, and of ordinary
 * processes; 1, 0 and Infinity without processes
 */
export function judge(processes: readonly Process[]): Judgement {
  if (processes.length < 2) {
    const ratio = processes.length === 0 ? 1 : Math.exp(gainOf(processes[0]!));
    return { verdict: 'undecided', ratio, low: 0, high: Infinity };
  }
  const strata = processes.map(({ stratum }) => stratum);
  const all = estimate(processes.map(gainOf), strata);
  const promised = promiseOf(processes, all);
  const sizes = processes[0]!.gains.map((_, size) =>
    estimate(
      processes.map(({ gains }) => gains[size]!),
      strata,
    ),
  );
  return {
    verdict: verdictOf(processes, all, promised, sizes),
    ratio: Math.exp(promised.mean),
    low: Math.exp(lowEnd(promised, INTERVAL_DOUBT)),
    high: Math.exp(highEnd(promised, INTERVAL_DOUBT)),
  };
}

const leastGainOf = (processes: readonly Process[]) => Math.min(...processes.flatMap(({ gains }) => gains));

/** Whether the gain is plain, if the rest of so many processes shows no less. */
function isPlainIn(processes: readonly Process[], expected: number): boolean {
  const leastGain = leastGainOf(processes);
  return PLAIN_GAINS.some(([count, gain]) => expected >= count && leastGain > Math.log1p(gain));
}

/**
 * Whether a few more processes are likely to make a claim of a gain that all have shown: two that make it plain, or, where
 * they cost little, some.
 */
export function isNearlyClaimed(processes: readonly Process[], areQuick: boolean): boolean {
  const count = processes.length;
  const isLikely = areQuick && count < LIKELY_PROCESSES && leastGainOf(processes) > Math.log1p(LIKELY_GAIN);
  return (isLikely || isPlainIn(processes, count + 2)) && judge(processes).verdict !== 'claim';
}

function verdictOf(
  processes: readonly Process[],
  all: Estimate,
  promised: Estimate,
  sizes: readonly Estimate[],
): Verdict {
  if (processes.length < LEAST_PROCESSES) return 'undecided';
  if (isPlainIn(processes, processes.length) && lowEnd(promised, INTERVAL_DOUBT) > 0) return 'claim';
  if (processes.length < LOOKS[0]!) return 'undecided';
  const isBusy = all.deviation > deviationOf(BUSY_SPREAD);
  const losesAtASize = sizes.some((size) => highEnd(size, CLAIM_DOUBT) < 0);
  const isFaster =
    surelyAbove(all, isBusy ? BUSY_CLAIM_DOUBT : CLAIM_DOUBT) > 0 &&
    all.mean > Math.log1p(LEAST_GAIN) &&
    all.lowestStratum > 0;
  const isNowhereSlower = !losesAtASize && sizes.every(({ mean }) => mean > Math.log1p(-LEAST_GAIN));
  if (isFaster && isNowhereSlower) return 'claim';
  // What a busy machine seems to say is no reason to give a configuration up.
  const isHopeless = highEnd(all, isBusy ? INTERVAL_DOUBT : NOTHING_DOUBT) < Math.log1p(WORTHWHILE_GAIN);
  if (isHopeless || losesAtASize) return 'nothing';
  return isBusy ? 'busy' : 'undecided';
}

/**
 * Whether a configuration might still be so much faster than another that was timed in the same processes that the
 * difference would be worth having.
 */
export function mayBeat(processes: readonly Process[], leader: readonly Process[]): boolean {
  if (processes.length < 2) return true;
  const differences = processes.map(({ gains }, i) => meanOf(gains) - meanOf(leader[i]!.gains));
  const estimated = estimate(
    differences,
    processes.map(({ stratum }) => stratum),
  );
  return highEnd(estimated, NOTHING_DOUBT) > Math.log1p(LEAST_GAIN);
}
