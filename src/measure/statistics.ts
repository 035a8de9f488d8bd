// The statistics behind "faster": undisturbed times, ratios and their confidence intervals. Pure.
import { seededRandom } from '../search/strategy.ts';

/** Middle value; the mean of the two middle ones for an even count. NaN for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Share of repetitions that nothing else on a machine gets in the way of, even on a busy one. */
const UNDISTURBED_SHARE = 0.2;

/**
 * Undisturbed time: the mean of the fastest fifth. Other work on the machine only adds time; a core that is taken away for some
 * milliseconds doubles a run on all threads. NaN for no values.
 */
export function undisturbed(values: readonly number[]): number {
  const fastest = values.toSorted((a, b) => a - b).slice(0, Math.ceil(UNDISTURBED_SHARE * values.length));
  return sumOf(fastest) / fastest.length;
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** NaN for no values. */
export const geometricMean = (values: readonly number[]): number =>
  values.length === 1
    ? values[0]!
    : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** Chance that Student's t with so many degrees of freedom (1, 2, 3, ...) lies above `t`, which is not negative. */
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

/** The value that Student's t with so many degrees of freedom (1, 2, 3, ...) exceeds with a chance of `doubt`, below a half. */
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

export interface Interval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Geometric mean of ratios, one per benchmark process, with its 99% confidence interval (t-distribution on the
 * logarithms): several candidates compete, and the luckiest of them must not pass for the best. Processes, not
 * repetitions, are the unit: memory placement differs from process to process, and repetitions inside one process all
 * share it. A single ratio says nothing of its spread: its interval is 0 to Infinity.
 */
export function ratioInterval(ratios: readonly number[]): Interval {
  const logs = ratios.map(Math.log);
  const n = logs.length;
  const mean = logs.reduce((sum, x) => sum + x, 0) / n;
  if (n < 2) return { ratio: Math.exp(mean), low: 0, high: Infinity };
  const variance = logs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1);
  const halfWidth = tQuantile(0.005, n - 1) * Math.sqrt(variance / n);
  return { ratio: Math.exp(mean), low: Math.exp(mean - halfWidth), high: Math.exp(mean + halfWidth) };
}

/** Fewer pairs do not separate undisturbed times from others. */
const LEAST_FOR_UNDISTURBED = 8;

/** How often samples are drawn from the times for an interval. */
const DRAWS = 1000;

/**
 * Intervals of so many pairs are wider than the samples say, since these repeat the few fastest times: without this, 2 to 5 of 100
 * comparisons of equal things excluded 1, and with it fewer than one (test/measure/intervals).
 */
const widening = (pairs: number): number => 1 + 4.5 / pairs;

/**
 * Ratio of what two things take undisturbed, with its 99% interval. They were timed in turns, in a process of their own each; a
 * neighbour on a shared machine slows one down for as long as a process lasts, and each by chance, so pairs as such say
 * little. The interval is of such ratios of samples that are drawn from the times with replacement (bootstrap). For few pairs,
 * that of `ratioInterval`.
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

/** Largest relative distance of a value from the median: how far a measurement strays that was not repeated. */
export function largestDeviation(values: readonly number[]): number {
  const middle = median(values);
  return Math.max(...values.map((value) => Math.abs(value / middle - 1)));
}
