// Sizes of the calls of a function with dynamic arguments.
import type { Type } from 'mlir-parser-ts';
import type { TunedSizes } from '../workload/sizes.ts';

/** Sizes of the dynamic dimensions in one call. */
export interface CallSizes {
  /** Size of a dynamic first dimension. */
  readonly batch: number;
  /** Size of all other dynamic dimensions. */
  readonly length: number;
  /** Whether the call is added to the user's: it checks results at a size that no tile divides. */
  readonly isExtra: boolean;
}

/** Each comparison and each timing of a program runs every call. */
const MOST_CALLS = 16;

/**
 * The calls of a function at the user's sizes, and one call at a size that no tile divides.
 * @returns null for a function without dynamic dimensions, without sizes, and for too many calls
 */
export function callSizes(types: readonly Type[], wanted: TunedSizes): CallSizes[] | null {
  const open = types.map((type) => shapeOf(type).filter((size) => size < 0).length);
  const most = Math.max(0, ...open);
  const lengths = wanted.m ?? wanted.n ?? wanted.k ?? wanted.batch;
  if (most === 0 || lengths === undefined) return null;
  const batches = most > 1 ? wanted.batch : undefined;
  if (lengths.length * (batches?.length ?? 1) >= MOST_CALLS) return null;
  const largest = lengths.at(-1)!;
  const extra = primeBelow(largest);
  return [
    ...(batches ?? [null]).flatMap((batch) =>
      lengths.map((length) => ({ batch: batch ?? length, length, isExtra: false })),
    ),
    ...(lengths.includes(extra) ? [] : [{ batch: batches?.at(-1) ?? extra, length: extra, isExtra: true }]),
  ];
}

/** The type with sizes for its dynamic dimensions. */
export function atCallSizes(type: Type, { batch, length }: CallSizes): Type {
  if (type.kind === 'opaque' || type.shape === null) return type;
  const shape = type.shape.map((size, i) => (size >= 0 ? size : i === 0 ? batch : length));
  return { ...type, shape };
}

/** The sizes as text, such as `4x128` with the batch first. */
export const callText = ({ batch, length }: CallSizes): string =>
  batch === length ? String(length) : `${batch}x${length}`;

const shapeOf = (type: Type): readonly number[] => (type.kind === 'opaque' ? [] : (type.shape ?? []));

/** The largest prime below a size, at least 3. */
function primeBelow(size: number): number {
  const isPrime = (n: number) => {
    for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
    return true;
  };
  for (let n = size - 1; n > 3; n--) if (isPrime(n)) return n;
  return 3;
}
