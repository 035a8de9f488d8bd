// Two sorts of configurations: what asks something of the whole program, and what does not. Alone they can be compared, and which
// of them a program is faster with only the program can tell.
import type { Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';

/** What asks something of the program is worth trying in it from this share of the best one's speed on. */
const NEARLY = 0.8;

/** A configuration, and how many times as fast as the default it is. */
export interface Rated {
  readonly configuration: Configuration;
  readonly ratio: number;
}

const isPlain = ({ configuration }: Pick<Rated, 'configuration'>): boolean => needsOf(configuration) === null;

export const isSameSort = (a: Pick<Rated, 'configuration'>, b: Pick<Rated, 'configuration'>): boolean =>
  isPlain(a) === isPlain(b);

/** Whether `other` is of the other sort than the best, and near enough to be known beside it. */
export const isBeside = (best: Rated, other: Rated): boolean =>
  !isSameSort(best, other) && (isPlain(other) || other.ratio >= NEARLY * best.ratio);
