// The worth of a configuration that is timed at several sizes, or in several calls, and kinds of configurations. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';
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

/** Share of the best configuration's speed that a configuration with needs must reach to be tried in the program. */
const NEARLY = 0.8;

const isPlain = ({ configuration }: Rated): boolean => needsOf(configuration) === null;

/**
 * Configurations with needs change the program around their operation, as data tiling does; configurations without needs do not. Timing
 * the operation alone cannot tell which kind makes a program faster.
 */
export const isSameKind = (a: Rated, b: Rated): boolean => isPlain(a) === isPlain(b);

/** Whether `other` is of the other kind than the best, and fast enough to be its alternative. */
export const isAlternative = (best: Rated, other: Rated): boolean =>
  !isSameKind(best, other) && (isPlain(other) || other.ratio >= NEARLY * best.ratio);
