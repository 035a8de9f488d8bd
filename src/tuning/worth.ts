// The worth of a configuration that is timed at several sizes, or in several calls. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean } from '../measure/statistics.ts';

/** A configuration, and the default's time over its time. */
export interface Rated {
  readonly configuration: Configuration;
  readonly ratio: number;
}

/** Timing noise of one comparison, as a ratio. */
const NOISE = 1.05;

/**
 * The gain over all sizes. A configuration that is slower at one size is worth only that size's ratio, because a program would not
 * keep it.
 * @param ratios default time over the configuration's, at each size
 */
export function worthOf(ratios: readonly number[]): number {
  const least = Math.min(...ratios);
  return least * NOISE < 1 ? least : geometricMean(ratios);
}
