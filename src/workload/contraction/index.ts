// Contractions as a kind of work: matmuls, convolutions and other multiply-adds.
import type { KindOfWork } from '../kind.ts';
import { atSizes } from './at-sizes.ts';
import { contractionFlops, contractionKey, staticForms, type Contraction } from './contraction.ts';
import { contractionKin } from './kin.ts';
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
  kin: contractionKin,
  structure: ({ dimensions, lhs, rhs, accumulator, windows }) =>
    JSON.stringify([dimensions.map(({ kind }) => kind), lhs, rhs, accumulator, windows]),
  resultType: ({ accumulator, context }) => (context?.dispatch?.arguments.at(-1) ?? accumulator).elementType,
  stored: ({ context, ...workload }) =>
    context === undefined ? workload : { ...workload, context: { digest: context.digest } },
};
