// Configurations with needs change the program around their operation, as data tiling does; configurations without needs do not.
// Timing the operation alone cannot tell which kind makes a program faster.
import { needsOf } from '../backend/index.ts';
import type { Rated } from './worth.ts';

/** Share of the best configuration's speed that a configuration with needs must reach to be tried in the program. */
const NEARLY = 0.8;

const isPlain = ({ configuration }: Pick<Rated, 'configuration'>): boolean => needsOf(configuration) === null;

export const isSameKind = (a: Pick<Rated, 'configuration'>, b: Pick<Rated, 'configuration'>): boolean =>
  isPlain(a) === isPlain(b);

/** Whether `other` is of the other kind than the best, and fast enough to be its alternative. */
export const isAlternative = (best: Rated, other: Rated): boolean =>
  !isSameKind(best, other) && (isPlain(other) || other.ratio >= NEARLY * best.ratio);
