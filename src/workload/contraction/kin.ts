// Contractions for which a configuration is worth about as much: of one structure, and with sizes that leave the same remainders.
import type { Contraction, Dimension } from './contraction.ts';

/** Multiples of this leave no remainder of most tiles. */
const EVEN = 32;

/** Smaller sizes are tiles of their own. */
const LEAST = 16;

/** Steps along a reduction are smaller. */
const EVEN_STEPS = 8;

/** Equal for kin: a text that says nothing else. */
export const contractionKin = ({ dimensions, lhs, rhs, accumulator, windows }: Contraction): string =>
  JSON.stringify([dimensions.map(classOf), lhs, rhs, accumulator, windows]);

function classOf({ kind, size }: Dimension): string {
  if (size < LEAST) return `${kind}=${size}`;
  if (kind === 'k') return size % EVEN_STEPS === 0 ? kind : `${kind}=${size}`;
  const even = [EVEN, LEAST].find((step) => size % step === 0);
  return even === undefined ? `${kind}=${size}` : `${kind}:${even}`;
}
