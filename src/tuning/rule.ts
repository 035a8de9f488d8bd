/**
 * Decides when a configuration counts as faster than the default: a group-sequential test on the logarithms of its gains. Pure.
 *
 * Each look at the data spends a part of one error budget (alpha spending after Lan and DeMets, 1983, with the cube of the share
 * of processes). The location is a trimmed mean with a winsorized variance (Tukey and McLaughlin, 1963), so that a disturbed
 * process moves little. The variance has a prior worth two processes, so that three equal gains are not mistaken for certainty
 * and three large ones are enough. `test/tuning/rule.test.ts` simulates the error rates on 10^5 sets of noise.
 */
import { sumOf, tQuantile, type Interval } from '../measure/statistics.ts';

/** Gains of one configuration in one benchmark process, timed interleaved with the default. */
export interface Process {
  /** Placement of operands and build: processes that share both also share the luck of cache and code alignment. */
  readonly stratum: string;
  /** Logarithms of default time over the configuration's, at each size that the workload is tuned at. */
  readonly gains: readonly number[];
}

/**
 * - `claim`: it is faster than the default in every stratum, within the error budget.
 * - `nothing`: its gain is too small to be worth a configuration, or it is slower at one of the sizes.
 * - `undecided`: more processes may decide.
 */
export type Verdict = 'claim' | 'nothing' | 'undecided';

export interface Judgement extends Interval {
  readonly verdict: Verdict;
}

/** Numbers of processes after which the test looks for a decision. */
export const LOOKS: readonly number[] = [3, 4, 6, 8, 10, 12, 14, 16];
export const LEAST_PROCESSES = LOOKS[0]!;
const MOST_PROCESSES = LOOKS.at(-1)!;

/** Chance that a configuration without a gain is claimed, over all looks together. */
const CLAIM_ERROR = 0.0007;

/** Chance, at each look, to give up a gain that is worth a configuration. */
const FUTILITY_ERROR = 0.02;

/** Chance that the true gain lies outside the interval of a record, at each end. */
const INTERVAL_ERROR = 0.005;

/** Variance of a gain between processes as expected before any is seen: of two timings that vary by 1.25%. */
const EXPECTED_VARIANCE = 2 * 0.0125 ** 2;
/** Number of processes that this expectation counts as. */
const EXPECTED_WEIGHT = 2;

/** Share of the processes that are trimmed at each end. */
const TRIMMED = 1 / 8;

/** A smaller gain is not worth a configuration. */
export const LEAST_GAIN = 0.02;

/** A configuration whose gain is surely below this is given up. */
const WORTHWHILE_GAIN = 0.03;

/**
 * A larger gain counts as this much in the test: 3x and 9x say the same about being faster, and their difference is no noise.
 */
const PLAIN_GAIN = 0.5;

/** Two groups of processes whose gains differ by more than this are timed under different conditions, such as cache aliasing. */
const LUCKY_GAIN = 0.15;

interface Estimate {
  readonly mean: number;
  /** Standard deviation of the mean. */
  readonly error: number;
  readonly degrees: number;
}

const meanOf = (values: readonly number[]) => sumOf(values) / values.length;

/** Trimmed mean of at least one value, and its error from winsorized squares and the expected spread. */
function estimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const cut = Math.floor(TRIMMED * sorted.length);
  const core = sorted.slice(cut, sorted.length - cut);
  const winsorized = values.map((value) => Math.min(core.at(-1)!, Math.max(core[0]!, value)));
  const middle = meanOf(winsorized);
  const squares = sumOf(winsorized.map((value) => (value - middle) ** 2));
  const degrees = EXPECTED_WEIGHT + core.length - 1;
  const deviation = Math.sqrt((EXPECTED_WEIGHT * EXPECTED_VARIANCE + squares) / degrees);
  return { mean: meanOf(core), error: deviation / Math.sqrt(core.length), degrees };
}

const lowEnd = ({ mean, error, degrees }: Estimate, doubt: number) =>
  mean - tQuantile(doubt, degrees) * error;
const highEnd = ({ mean, error, degrees }: Estimate, doubt: number) =>
  mean + tQuantile(doubt, degrees) * error;

const gainOf = ({ gains }: Process) => meanOf(gains);

/**
 * Processes that a record's promise is made from: the lower group where gains fall into two groups plainly apart, else all.
 * The default of the upper group may suffer from cache aliasing that a program does not have.
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

/** Part of the error budget that the look after `count` processes spends. */
function claimDoubt(count: number): number {
  const before = LOOKS.findLast((look) => look < count) ?? 0;
  return (CLAIM_ERROR * (count ** 3 - before ** 3)) / MOST_PROCESSES ** 3;
}

/**
 * Judges a configuration by all processes in which it was timed.
 * @returns the verdict; ratio and 99% interval of the geometric mean over sizes, from ordinary processes; 1, 0 and Infinity
 * without processes
 */
export function judge(processes: readonly Process[]): Judgement {
  if (processes.length === 0) return { verdict: 'undecided', ratio: 1, low: 0, high: Infinity };
  const promised = estimate(ordinary(processes).map(gainOf));
  return {
    verdict: verdictOf(processes, promised),
    ratio: Math.exp(promised.mean),
    low: Math.exp(lowEnd(promised, INTERVAL_ERROR)),
    high: Math.exp(highEnd(promised, INTERVAL_ERROR)),
  };
}

function verdictOf(processes: readonly Process[], promised: Estimate): Verdict {
  if (processes.length < LEAST_PROCESSES) return 'undecided';
  const doubt = claimDoubt(processes.length);
  const all = estimate(processes.map((one) => plain(gainOf(one))));
  const sizes = processes[0]!.gains.map((_, size) =>
    estimate(processes.map(({ gains }) => plain(gains[size]!))),
  );
  const losesAtASize = sizes.some((size) => highEnd(size, doubt) < 0);
  const isNowhereSlower = !losesAtASize && sizes.every(({ mean }) => mean > Math.log1p(-LEAST_GAIN));
  const isFaster = lowEnd(all, doubt) > 0 && all.mean > Math.log1p(LEAST_GAIN);
  const isUsable = lowEnd(promised, INTERVAL_ERROR) > 0;
  if (isFaster && isUsable && isNowhereSlower && lowestStratum(processes) > 0) return 'claim';
  const isHopeless = highEnd(all, FUTILITY_ERROR) < Math.log1p(WORTHWHILE_GAIN);
  return isHopeless || losesAtASize ? 'nothing' : 'undecided';
}

const plain = (gain: number) => Math.min(gain, Math.log1p(PLAIN_GAIN));

function lowestStratum(processes: readonly Process[]): number {
  const groups = Map.groupBy(processes, ({ stratum }) => stratum);
  return Math.min(...[...groups.values()].map((group) => meanOf(group.map(gainOf))));
}

/** Whether `count` processes would make a claim if the missing ones repeated those seen so far. */
export function wouldClaim(processes: readonly Process[], count: number): boolean {
  if (processes.length === 0) return false;
  const repeated = Array.from({ length: count }, (_, i) => processes[i % processes.length]!);
  return judge(processes).verdict !== 'claim' && judge(repeated).verdict === 'claim';
}

/**
 * Whether a configuration may still be faster than the leader, timed in the same processes, by a gain that is worth a
 * configuration.
 */
export function mayBeat(processes: readonly Process[], leader: readonly Process[]): boolean {
  if (processes.length < 2) return true;
  const differences = processes.map((one, i) => gainOf(one) - gainOf(leader[i]!));
  return highEnd(estimate(differences), FUTILITY_ERROR) > Math.log1p(LEAST_GAIN);
}
