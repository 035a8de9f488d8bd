// Decides when a comparison of two programs needs no more pairs of processes. Gains are logarithms of the first program's time over the
// second's, one for each pair. Pure.
import { ratioInterval } from '../measure/statistics.ts';
import { judge } from '../tuning/rule.ts';

/** Whether the pairs so far are enough. */
export type IsAnswered = (gains: readonly number[]) => boolean;

/** Noise never reaches this ratio, even in a single pair. */
const FAR = 3.4;

const verdictOf = (gains: readonly number[]) =>
  judge(gains.map((gain) => ({ stratum: 'program', gains: [gain] }))).verdict;
const opposite = (gains: readonly number[]) => gains.map((gain) => -gain);
const isFarAhead = (gains: readonly number[]) =>
  gains.length > 0 && gains.every((gain) => gain > Math.log(FAR));

/** Pairs without which no loss is certain: it marks a configuration. */
const LOSS_PAIRS = 5;

/** The rule claims a gain, and the interval that the program is judged by excludes 1 as well. */
const isCertain = (gains: readonly number[]) =>
  verdictOf(gains) === 'claim' && ratioInterval(gains.map(Math.exp)).low > 1;

/** One of both programs is faster. */
export const isEitherFaster: IsAnswered = (gains) =>
  isFarAhead(gains) || isCertain(gains) || (gains.length >= LOSS_PAIRS && isCertain(opposite(gains)));

/** One of both programs is faster. A single pair may prove a loss, so this is only for losses that mark nothing. */
export const isEitherFarAhead: IsAnswered = (gains) => isEitherFaster(gains) || isFarAhead(opposite(gains));

/**
 * It is clear whether the second program is more than `ratio` times as fast as the first, and which of both is faster. Without the
 * latter the verdict on the second program would stay open.
 */
export const isComparedWith =
  (ratio: number): IsAnswered =>
  (gains) =>
    isEitherFaster(gains) && verdictOf(gains.map((gain) => gain - Math.log(ratio))) !== 'undecided';
