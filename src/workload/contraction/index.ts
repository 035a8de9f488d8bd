// Contractions as a kind of work: matmuls, convolutions and other multiply-adds.
import { factorType } from '../element-type.ts';
import type { KindOfWork } from '../kind.ts';
import { isDynamic } from '../sizes.ts';
import { elementsOf } from '../tensor.ts';
import {
  atSizes,
  contractionFlops,
  contractionKey,
  extentsOf,
  staticForms,
  type Contraction,
  type Dimension,
} from './contraction.ts';
import { isContraction } from './schema.ts';
import { matcherOf } from './text.ts';
import { contractionBytes, isBoundByMemory, likelyCost } from './traffic.ts';

export const contractions: KindOfWork<Contraction> = {
  needsProgram: false,
  hasRoot: true,
  // Rounds of a program have one size of each dynamic dimension.
  joinsRounds: (workload) => !isDynamic(workload),
  withoutDispatch: ({ context, ...alone }) => (context === undefined ? null : alone),
  hasStrides: ({ context }) => context?.dispatch?.isStrided === true,
  key: contractionKey,
  isWorkload: isContraction,
  atSizes,
  staticForms,
  flops: contractionFlops,
  amount: (workload) => ({
    multiplications: contractionFlops(workload) / 2,
    type: factorType(workload.lhs.elementType, workload.rhs.elementType),
    bytes: contractionBytes(workload),
  }),
  bytes: contractionBytes,
  likelyCost,
  isBoundByMemory,
  dispatch: ({ context }) => context?.digest ?? null,
  kin: ({ dimensions, lhs, rhs, accumulator, windows }) =>
    JSON.stringify([dimensions.map(classOf), lhs, rhs, accumulator, windows]),
  structure: ({ dimensions, lhs, rhs, accumulator, windows }) =>
    JSON.stringify([dimensions.map(({ kind }) => kind), lhs, rhs, accumulator, windows]),
  matchKey: (workload, loops) => matcherOf({ workload, loops }, 'match', ''),
  inputType: ({ lhs }) => lhs.elementType,
  resultType: ({ accumulator, context }) => (context?.dispatch?.arguments.at(-1) ?? accumulator).elementType,
  tensorSizes(workload) {
    const { lhs, rhs, accumulator, constantRhs } = workload;
    const [left, right, result] = [lhs, rhs, accumulator].map((one) => elementsOf(extentsOf(workload, one)));
    return { inputs: constantRhs ? [left!] : [left!, right!], result: result! };
  },
  hasConstants: ({ constantRhs }) => constantRhs,
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
