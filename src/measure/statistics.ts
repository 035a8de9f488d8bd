// The statistics behind "faster": medians, paired ratios and their confidence intervals. Pure.

/** Middle value; the mean of the two middle ones for an even count. NaN for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** NaN for no values. */
export const geometricMean = (values: readonly number[]): number =>
  values.length === 1
    ? values[0]!
    : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** 99.5% quantiles of Student's t for 1, 2, 3, ... degrees of freedom; 2.58 is the limit. */
const T_995 = [
  63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169, 3.106, 3.055, 3.012, 2.977,
];

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
  const halfWidth = (T_995[n - 2] ?? 2.98) * Math.sqrt(variance / n);
  return { ratio: Math.exp(mean), low: Math.exp(mean - halfWidth), high: Math.exp(mean + halfWidth) };
}

/**
 * Relative half-width of the default measured against itself: how large a difference has to be to mean anything
 * here and now.
 */
export function noiseFloor(selfRatios: readonly number[]): number {
  const { low, high } = ratioInterval(selfRatios);
  return Math.max(high - 1, 1 - low);
}

/** Largest relative distance of a value from the median: how far a measurement strays that was not repeated. */
export function largestDeviation(values: readonly number[]): number {
  const middle = median(values);
  return Math.max(...values.map((value) => Math.abs(value / middle - 1)));
}
