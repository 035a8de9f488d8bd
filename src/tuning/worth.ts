// How much a configuration is worth that is timed at several sizes, or in several calls. Pure.
import { geometricMean } from '../measure/statistics.ts';

/** Timing noise of one comparison, as a ratio. */
const NOISE = 1.05;

/**
 * How many times as fast a configuration is over all sizes. One that is slower at one of them is worth no more than that:
 * no program would keep it.
 * @param ratios default time over the configuration's, at each size
 */
export function worthOf(ratios: readonly number[]): number {
  const least = Math.min(...ratios);
  return least * NOISE < 1 ? least : geometricMean(ratios);
}
