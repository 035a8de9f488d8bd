// The statistics behind "faster": medians, paired ratios and their confidence intervals. Pure.

/** Middle value; the mean of the two middle ones for an even count. NaN for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** 97.5% quantiles of Student's t for 1, 2, 3, ... degrees of freedom; 1.96 is the limit. */
const T_975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
];

export interface Interval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Geometric mean of ratios, one per benchmark process, with its 95% confidence interval (t-distribution on the
 * logarithms). Processes, not repetitions, are the unit: memory placement differs from process to process, and
 * repetitions inside one process all share it. A single ratio says nothing of its spread: its interval is 0 to Infinity.
 */
export function ratioInterval(ratios: readonly number[]): Interval {
  const logs = ratios.map(Math.log);
  const n = logs.length;
  const mean = logs.reduce((sum, x) => sum + x, 0) / n;
  if (n < 2) return { ratio: Math.exp(mean), low: 0, high: Infinity };
  const variance = logs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1);
  const halfWidth = (T_975[n - 2] ?? 2.14) * Math.sqrt(variance / n);
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
