// Sizes of dimensions, and the sizes at which dynamic dimensions are tuned.
import { isIntegerWithin } from '../system/data.ts';
import type { Reason } from '../system/reason.ts';

/** Role of an iteration dimension. `batch`: in both operands and the result. `m`: in lhs and result. `n`: in rhs and result. `k`: reduced. */
export type DimensionKind = 'batch' | 'm' | 'n' | 'k';

/** The order of kinds in a canonical form. */
export const KIND_ORDER: readonly DimensionKind[] = ['batch', 'm', 'n', 'k'];

/** Sizes for the dynamic dimensions of each kind, smallest first. */
export type TunedSizes = Readonly<Partial<Record<DimensionKind, readonly number[]>>>;

/** Whether a size is known only at run time. */
export const isDynamic = ({
  dimensions,
}: {
  readonly dimensions: readonly { readonly sizes?: readonly number[] }[];
}): boolean => dimensions.some(({ sizes }) => sizes !== undefined);

export const isSize = (value: unknown): value is number => isIntegerWithin(value, 1, Number.MAX_SAFE_INTEGER);

/** Every choice of one value from each list. */
export const combinations = <T>(lists: readonly (readonly T[])[]): T[][] =>
  lists.reduce<T[][]>((begun, list) => begun.flatMap((some) => list.map((one) => [...some, one])), [[]]);

/** Whether a value is a list with at least one entry, and at most `most`. */
export const isFew = (value: unknown, most: number): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.length <= most;

/** Whether a value is a list of indices of `rank` dimensions, each at most once. */
export const areIndices = (value: unknown, rank: number): boolean =>
  Array.isArray(value) &&
  value.every((index) => isIntegerWithin(index, 0, rank - 1)) &&
  new Set(value).size === value.length;

/** Most sizes of one dynamic dimension in a database. */
const MOST_SIZES = 64;

/** Whether a value is a list of sizes of a dynamic dimension, smallest first. May be empty. */
export const areSizes = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length <= MOST_SIZES &&
  value.every((size, i) =>
    isIntegerWithin(size, ((value[i - 1] as number | undefined) ?? 0) + 1, Number.MAX_SAFE_INTEGER),
  );

/** The reason why work with dynamic dimensions of these kinds is not tuned. */
export const sizesWanted = (kinds: readonly DimensionKind[]): Reason => {
  const some = kinds.map((kind) => `${kind[0]!}=1,16,128`).join(' ');
  // Not made by `because`: a hit loads this file, and not the table of reasons.
  return {
    code: 'sizes-missing',
    reason: `dynamic dimensions without sizes to tune at: give some, such as --iree-tuned-dim="${some}"`,
  };
};

/** Each number once, smallest first. */
export const ascending = (numbers: Iterable<number>): number[] => [...new Set(numbers)].sort((a, b) => a - b);

/** The sizes of all dimensions, each once, smallest first. */
export const allSizes = (sizes: TunedSizes): number[] => ascending(Object.values(sizes).flat());
