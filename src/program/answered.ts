// Decides when a comparison of two programs needs no more pairs of processes. Gains are logarithms of the first program's time over the
// second's, one for each pair. Pure.
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

/** One of both programs is faster. A loss marks a configuration, so a single pair never proves a loss. */
export const isEitherFaster: IsAnswered = (gains) =>
  isFarAhead(gains) || verdictOf(gains) === 'claim' || verdictOf(opposite(gains)) === 'claim';

/** One of both programs is faster. A single pair may prove a loss, so this is only for losses that mark nothing. */
export const isEitherFarAhead: IsAnswered = (gains) => isEitherFaster(gains) || isFarAhead(opposite(gains));

/** It is clear whether the second program is more than `ratio` times as fast as the first. */
export const isComparedWith =
  (ratio: number): IsAnswered =>
  (gains) =>
    verdictOf(gains.map((gain) => gain - Math.log(ratio))) !== 'undecided';
