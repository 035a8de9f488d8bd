// Kin: contractions for which a configuration gains about as much. They have one structure, and sizes with the same remainders.
import type { Contraction, Dimension } from './contraction.ts';

/** Most tiles divide multiples of this size. */
const EVEN = 32;

/** Below this size, each size is a class of its own. */
const LEAST = 16;

/** Most tiles of a reduction divide multiples of this size. */
const EVEN_STEPS = 8;

/** Text that is equal for kin. */
export const contractionKin = ({ dimensions, lhs, rhs, accumulator, windows }: Contraction): string =>
  JSON.stringify([dimensions.map(classOf), lhs, rhs, accumulator, windows]);

function classOf({ kind, size }: Dimension): string {
  if (size < LEAST) return `${kind}=${size}`;
  if (kind === 'k') return size % EVEN_STEPS === 0 ? kind : `${kind}=${size}`;
  const even = [EVEN, LEAST].find((step) => size % step === 0);
  return even === undefined ? `${kind}=${size}` : `${kind}:${even}`;
}
