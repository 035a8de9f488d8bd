// When pairs of processes have answered a question about two programs. Gains are logarithms of the first program's time over the
// second's, one for each pair. Pure.
import { judge } from '../tuning/rule.ts';

/** Tells whether more pairs can change nothing. */
export type IsAnswered = (gains: readonly number[]) => boolean;

/** Noise does not make one program so many times as fast as the other, not even in a single pair. */
const FAR = 3.4;

const verdictOf = (gains: readonly number[]) =>
  judge(gains.map((gain) => ({ stratum: 'program', gains: [gain] }))).verdict;
const opposite = (gains: readonly number[]) => gains.map((gain) => -gain);
const isFarAhead = (gains: readonly number[]) =>
  gains.length > 0 && gains.every((gain) => gain > Math.log(FAR));

/** One of both is faster. A loss marks a configuration, so that one pair is never enough for it. */
export const isEitherFaster: IsAnswered = (gains) =>
  isFarAhead(gains) || verdictOf(gains) === 'claim' || verdictOf(opposite(gains)) === 'claim';

/** The same where a loss marks nothing: one pair may be enough. */
export const isEitherFarAhead: IsAnswered = (gains) => isEitherFaster(gains) || isFarAhead(opposite(gains));

/** The second is more than `ratio` times as fast as the first, or is not. */
export const isComparedWith =
  (ratio: number): IsAnswered =>
  (gains) =>
    verdictOf(gains.map((gain) => gain - Math.log(ratio))) !== 'undecided';
