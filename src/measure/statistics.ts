// Statistics of times: undisturbed times, ratios and their confidence intervals. Pure.
import { seededRandom } from '../search/strategy.ts';
import type { Speedup } from '../store/store.ts';

/** Middle value; the mean of the two middle ones for an even count. NaN for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Share of repetitions that other processes do not slow down, even on a busy machine. */
const UNDISTURBED_SHARE = 0.2;

/**
 * Undisturbed time: the mean of the fastest fifth. Other processes only add time: one that takes a core for a few milliseconds doubles
 * the time of a run on all cores. NaN for no values.
 */
export function undisturbed(values: readonly number[]): number {
  const fastest = values.toSorted((a, b) => a - b).slice(0, Math.ceil(UNDISTURBED_SHARE * values.length));
  return sumOf(fastest) / fastest.length;
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The first items that together have this share of the sum of all. @param sizeOf no size is negative */
export function leading<T>(items: readonly T[], share: number, sizeOf: (item: T) => number): T[] {
  let open = share * sumOf(items.map(sizeOf));
  return items.filter((one) => {
    const isOpen = open > 0;
    open -= sizeOf(one);
    return isOpen;
  });
}

/** NaN for no values. */
export const geometricMean = (values: readonly number[]): number =>
  values.length === 1 ? values[0]! : Math.exp(sumOf(values.map(Math.log)) / values.length);

/** P(T > t) for Student's t with 1, 2, 3, ... degrees of freedom. @param t at least 0 */
function tTail(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  // The finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let i = isOdd ? 3 : 2; i <= degrees - 2; i += 2) {
    term *= ((i - 1) / i) * cosine ** 2;
    sum += term;
  }
  const between = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return (1 - between) / 2;
}

const quantiles = new Map<string, number>();

/** The t with P(T > t) = `doubt`, for Student's t with 1, 2, 3, ... degrees of freedom. @param doubt below 0.5 */
export function tQuantile(doubt: number, degrees: number): number {
  const key = `${doubt} ${degrees}`;
  const known = quantiles.get(key);
  if (known !== undefined) return known;
  let [low, high] = [0, 1e9];
  while (high - low > 1e-9 * high) {
    const middle = (low + high) / 2;
    if (tTail(middle, degrees) > doubt) low = middle;
    else high = middle;
  }
  quantiles.set(key, high);
  return high;
}

/** A ratio with its confidence interval. */
export type Interval = Speedup;

/**
 * Geometric mean of ratios, one per benchmark process, with its confidence interval (t-distribution on the logarithms). The level is
 * 99% because the luckiest of several candidates must not win by noise. Repetitions in one process share the placement of memory, so
 * each process counts once. A single ratio has the interval 0 to Infinity.
 */
export function ratioInterval(ratios: readonly number[]): Interval {
  const logs = ratios.map(Math.log);
  const n = logs.length;
  const mean = sumOf(logs) / n;
  if (n < 2) return { ratio: Math.exp(mean), low: 0, high: Infinity };
  const variance = sumOf(logs.map((x) => (x - mean) ** 2)) / (n - 1);
  const halfWidth = tQuantile(0.005, n - 1) * Math.sqrt(variance / n);
  return { ratio: Math.exp(mean), low: Math.exp(mean - halfWidth), high: Math.exp(mean + halfWidth) };
}

/** Fewer pairs do not separate undisturbed times from disturbed ones. */
const LEAST_FOR_UNDISTURBED = 8;

/** Bootstrap samples of one interval. */
const DRAWS = 1000;

/**
 * Factor on the logarithm of an interval's width. Bootstrap samples repeat the few fastest times, so their interval is too narrow.
 * Without the factor, 2 to 5 of 100 comparisons of equal programs exclude 1; with the factor, fewer than one (test/measure/intervals).
 */
const widening = (pairs: number): number => 1 + 4.5 / pairs;

/**
 * Ratio of two programs' undisturbed times, with its 99% confidence interval (bootstrap). The programs were timed in alternating
 * processes. Another process may slow down one half of a pair, so times are not compared pair by pair.
 * @param pairs of seconds; with fewer than 8 pairs, the result is that of `ratioInterval`
 */
export function undisturbedRatio(pairs: readonly (readonly [first: number, second: number])[]): Interval {
  if (pairs.length < LEAST_FOR_UNDISTURBED) return ratioInterval(pairs.map(([a, b]) => a / b));
  const [first, second] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)];
  const random = seededRandom(1);
  const drawn = (times: readonly number[]) =>
    undisturbed(times.map(() => times[Math.floor(random() * times.length)]!));
  const ratios = Array.from({ length: DRAWS }, () => drawn(first) / drawn(second)).sort((a, b) => a - b);
  const beyond = Math.floor(0.005 * DRAWS);
  const ratio = undisturbed(first) / undisturbed(second);
  const widened = (bound: number) => ratio * (bound / ratio) ** widening(pairs.length);
  return { ratio, low: widened(ratios[beyond]!), high: widened(ratios[DRAWS - 1 - beyond]!) };
}

/** Largest relative distance of a value from the median. */
export function largestDeviation(values: readonly number[]): number {
  const middle = median(values);
  return Math.max(...values.map((value) => Math.abs(value / middle - 1)));
}
