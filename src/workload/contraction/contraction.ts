// A contraction in canonical form: without names, spelling and the order of loops. Compares one of the input with an operation
// that the compiler may have made of it, or the reverse.
import type { Operation } from 'mlir-parser-ts';
import { because, type Reason } from '../../system/reason.ts';
import { combinations, sizesWanted, type DimensionKind, type TunedSizes } from '../sizes.ts';
import { elementsOf } from '../tensor.ts';
import type { Context } from './dispatch.ts';

export interface Dimension {
  readonly kind: DimensionKind;
  /** In elements. For a dynamic dimension, the largest of its `sizes`; 0 without sizes. */
  readonly size: number;
  /** The sizes at which a dynamic dimension is tuned, smallest first. Absent for a static size. */
  readonly sizes?: readonly number[];
}

export interface OperandForm {
  /** Element type in MLIR's spelling, such as `f32` or `i8`. */
  readonly elementType: string;
  /**
   * For each dimension of the tensor, its index in `Contraction.dimensions`. A dimension along which a filter moves has two
   * indices: along the image, and inside the filter.
   */
  readonly dimensions: readonly number[];
}

/** Indices into `Contraction.dimensions`: along the image, and inside the filter. */
export type Window = readonly [along: number, inside: number];

/** A contraction: `accumulator += lhs * rhs` over the `k` dimensions. */
export interface Contraction {
  readonly kind: 'contraction';
  /** All iteration dimensions, batch before m before n before k. */
  readonly dimensions: readonly Dimension[];
  readonly lhs: OperandForm;
  readonly rhs: OperandForm;
  readonly accumulator: OperandForm;
  /** Whether the right-hand side is a constant of the program, so that packing costs nothing at run time. */
  readonly constantRhs: boolean;
  /** The dimensions along which a filter (rhs) moves over an image (lhs). Absent without a filter. The dispatch has the strides. */
  readonly windows?: readonly Window[];
  /** The dispatch in which it is measured. Absent for a contraction that is measured alone. */
  readonly context?: Context;
}

/** Name of each dimension in a key: its kind, with a number if the kind occurs more than once (`m0`, `m1`). */
const namesOf = ({ dimensions }: Contraction): string[] =>
  dimensions.map(({ kind }, d) => {
    const own = [...dimensions.keys()].filter((one) => dimensions[one]!.kind === kind);
    return own.length > 1 ? `${kind[0]!}${own.indexOf(d)}` : kind[0]!;
  });

/**
 * Readable canonical key, such as `contraction m=512 n=512 k=512 f32,f32->f32 mk,kn->mn`. A dynamic dimension is
 * `m=?(1,16,128)`. With a context, the key ends in `in=` and the digest of the dispatch.
 */
export function contractionKey(workload: Contraction): string {
  const names = namesOf(workload);
  const sizes = workload.dimensions
    .map(({ size, sizes }, i) => `${names[i]!}=${sizes === undefined ? size : `?(${sizes.join(',')})`}`)
    .join(' ');
  const types = `${workload.lhs.elementType},${workload.rhs.elementType}->${workload.accumulator.elementType}`;
  const form = (operand: OperandForm) =>
    alongOf(workload, operand)
      .map(([d, inside]) => (inside === undefined ? names[d]! : `(${names[d]!}+${names[inside]!})`))
      .join('');
  const maps = `${form(workload.lhs)},${form(workload.rhs)}->${form(workload.accumulator)}`;
  const place = workload.context === undefined ? '' : ` in=${workload.context.digest}`;
  return `contraction ${sizes} ${types} ${maps}${workload.constantRhs ? ' rhs=constant' : ''}${place}`;
}

/** Each module of candidates compiles and measures every combination. */
const MOST_COMBINATIONS = 16;

/** The contraction with sizes for its dynamic dimensions, or the reason why it cannot be tuned. */
export function atSizes(workload: Contraction, wanted: TunedSizes): Contraction | Reason {
  const open = workload.dimensions.filter(({ sizes }) => sizes !== undefined);
  if (open.length === 0) return workload;
  const missing = [...new Set(open.map(({ kind }) => kind))].filter((kind) => wanted[kind] === undefined);
  if (missing.length > 0) return sizesWanted(missing);
  const count = open.reduce((product, { kind }) => product * wanted[kind]!.length, 1);
  if (count > MOST_COMBINATIONS)
    return because(
      'too-many-sizes',
      `dynamic dimensions with too many sizes: ${count} combinations, of ${MOST_COMBINATIONS} at most`,
    );
  return {
    ...workload,
    dimensions: workload.dimensions.map((dimension) => {
      if (dimension.sizes === undefined) return dimension;
      const sizes = wanted[dimension.kind]!;
      return { ...dimension, size: sizes.at(-1)!, sizes };
    }),
  };
}

/** The contraction at every combination of the sizes of its dynamic dimensions. */
export const staticForms = (workload: Contraction): Contraction[] =>
  combinations(
    workload.dimensions.map(({ kind, size, sizes }) => (sizes ?? [size]).map((one) => ({ kind, size: one }))),
  ).map((dimensions) => ({ ...workload, dimensions }));

/** For each dimension of an operand's tensor: its dimension, and the dimension of the filter that moves along it, if any. */
function alongOf(
  { windows }: Contraction,
  { dimensions }: OperandForm,
): (readonly [along: number, inside: number | undefined])[] {
  const moved = (windows ?? []).filter((window) => window.every((d) => dimensions.includes(d)));
  return dimensions
    .filter((d) => !moved.some(([, inside]) => inside === d))
    .map((d) => [d, moved.find(([along]) => along === d)?.[1]]);
}

/** Elements along each dimension of an operand's tensor. An image has the size for a filter with strides of 1. */
export const extentsOf = (workload: Contraction, operand: OperandForm): number[] =>
  alongOf(workload, operand).map(
    ([d, inside]) =>
      workload.dimensions[d]!.size + (inside === undefined ? 0 : workload.dimensions[inside]!.size - 1),
  );

/** Arithmetic operations of one execution, two for each multiply-add, at the largest sizes of dynamic dimensions. */
export function contractionFlops(workload: Contraction): number {
  return 2 * workload.dimensions.reduce((product, { size }) => product * size, 1);
}

/** Whether the compiler can have made one contraction of the other: equal amounts of work, and sums of one type. */
export const isSameWork = (a: Contraction, b: Contraction): boolean =>
  workOf(a) === workOf(b) && a.accumulator.elementType === b.accumulator.elementType;

/** The product of the static sizes, and the number of dynamic ones. */
function workOf({ dimensions }: Contraction): string {
  const known = dimensions.filter(({ sizes }) => sizes === undefined);
  return `${elementsOf(known.map(({ size }) => size))}, ${dimensions.length - known.length} dynamic`;
}

/** Whether tiles have the same meaning for both: a configuration has one tile for each dimension. */
export const areTiledAlike = (a: Contraction, b: Contraction): boolean =>
  JSON.stringify(a.dimensions) === JSON.stringify(b.dimensions);

/**
 * Whether the compiler can have made a contraction of a convolution: both have results and filters of the same size. The
 * image of the contraction may be smaller, because strides skip elements.
 */
export function isMadeOf(workload: Contraction, { operands }: Operation): boolean {
  const { lhs, rhs, accumulator } = workload;
  const [image, filter, results] = (['lhs', 'rhs', 'accumulator'] as const).map((role) => {
    const type = operands.find((operand) => operand.role === role)?.type;
    return type === undefined || type.kind === 'opaque' || type.shape === null ? null : sizeOf(type.shape);
  });
  const made = (operand: OperandForm) =>
    operand.dimensions.some((d) => workload.dimensions[d]!.sizes !== undefined)
      ? null
      : elementsOf(extentsOf(workload, operand));
  const [one, other] = [made(lhs), made(rhs)];
  const fits = (moved: number | null, still: number | null) =>
    still === filter && (moved ?? 0) <= (image ?? Infinity);
  return made(accumulator) === results && (fits(one, other) || fits(other, one));
}

/**
 * A workload that the compiler made, with the fact that only the input has: whether an operand is a constant. In a dispatch, a constant is
 * an ordinary operand.
 */
export const withInput = (made: Contraction, { constantRhs }: Contraction): Contraction =>
  made.context === undefined ? { ...made, constantRhs } : made;

const sizeOf = (shape: readonly number[]) => (shape.some((size) => size < 0) ? null : elementsOf(shape));
