// Contractions as a kind of work: matmuls, convolutions and other multiply-adds. Every key of one from JSON is checked, because anybody can
// write a database.
import { hasOnly, isBoolean, isIntegerWithin, isText, listOf, matches, optional } from '../../system/data.ts';
import { factorType, isSimpleType } from '../element-type.ts';
import type { KindOfWork } from '../kind.ts';
import { areIndices, areSizes, isDynamic, isFew, isSize, KIND_ORDER } from '../sizes.ts';
import { elementsOf } from '../tensor.ts';
import {
  atSizes,
  contractionFlops,
  contractionKey,
  extentsOf,
  staticForms,
  type Contraction,
  type Dimension,
  type OperandForm,
} from './contraction.ts';
import type { Context } from './dispatch.ts';
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

const MOST_DIMENSIONS = 32;

/** Element types must be single words, because they are written into MLIR. */
function isContraction(value: object): value is Contraction {
  const { dimensions, context } = value as Partial<Record<keyof Contraction, unknown>>;
  const rank = Array.isArray(dimensions) ? dimensions.length : 0;
  const isOperand = hasOnly<OperandForm>({
    elementType: isSimpleType,
    dimensions: (all) => areIndices(all, rank),
  });
  return hasOnly<Contraction>({
    ...{ kind: isText, dimensions: areDimensions, constantRhs: isBoolean },
    ...{ lhs: isOperand, rhs: isOperand, accumulator: isOperand },
    windows: optional((windows) => areWindows(windows, rank) && context !== undefined),
    context: optional(isContext),
  })(value);
}

const areWindows = (value: unknown, rank: number): boolean =>
  isFew(value, rank) &&
  value.every((window) => Array.isArray(window) && window.length === 2) &&
  areIndices(value.flat(), rank);

/** Only the digest is accepted: the text of a dispatch would reach the compiler. */
const isContext = hasOnly<Omit<Context, 'dispatch'>>({ digest: matches(/^[0-9a-f]{16}$/) });

const isDimension = hasOnly<Dimension>({
  kind: (kind) => (KIND_ORDER as readonly unknown[]).includes(kind),
  size: (size) => isIntegerWithin(size, 0, Number.MAX_SAFE_INTEGER),
  sizes: optional(areSizes),
});

const areDimensions = (value: unknown): boolean =>
  isFew(value, MOST_DIMENSIONS) &&
  listOf(isDimension)(value) &&
  (value as Dimension[]).every(({ kind, size, sizes }, d, all) => {
    const before = all[d - 1]?.kind ?? kind;
    return (
      KIND_ORDER.indexOf(before) <= KIND_ORDER.indexOf(kind) &&
      (sizes === undefined ? isSize(size) : size === (sizes.at(-1) ?? 0))
    );
  });
