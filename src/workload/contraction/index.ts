// Contractions as a kind of work: matmuls, convolutions and other multiply-adds.
import type { KindOfWork } from '../kind.ts';
import {
  atSizes,
  contractionFlops,
  contractionKey,
  staticForms,
  type Contraction,
  type Dimension,
} from './contraction.ts';
import { isContraction } from './schema.ts';
import { contractionBytes, isBoundByMemory, likelyCost } from './traffic.ts';

export const contractions: KindOfWork<Contraction> = {
  key: contractionKey,
  isWorkload: isContraction,
  atSizes,
  staticForms,
  flops: contractionFlops,
  bytes: contractionBytes,
  likelyCost,
  isBoundByMemory,
  dispatch: ({ context }) => context?.digest ?? null,
  kin: ({ dimensions, lhs, rhs, accumulator, windows }) =>
    JSON.stringify([dimensions.map(classOf), lhs, rhs, accumulator, windows]),
  structure: ({ dimensions, lhs, rhs, accumulator, windows }) =>
    JSON.stringify([dimensions.map(({ kind }) => kind), lhs, rhs, accumulator, windows]),
  resultType: ({ accumulator, context }) => (context?.dispatch?.arguments.at(-1) ?? accumulator).elementType,
  stored: ({ context, ...workload }) =>
    context === undefined ? workload : { ...workload, context: { digest: context.digest } },
};

/** Most tiles divide multiples of this size. */
const EVEN = 32;

/** Below this size, each size is a class of its own. */
const LEAST = 16;

/** Most tiles of a reduction divide multiples of this size. */
const EVEN_STEPS = 8;

/** Text of a dimension that is equal for kin: they have sizes with the same remainders. */
function classOf({ kind, size }: Dimension): string {
  if (size < LEAST) return `${kind}=${size}`;
  if (kind === 'k') return size % EVEN_STEPS === 0 ? kind : `${kind}=${size}`;
  const even = [EVEN, LEAST].find((step) => size % step === 0);
  return even === undefined ? `${kind}=${size}` : `${kind}:${even}`;
}
