// Compares a workload of the input with an operation that the compiler may have made of it, or the reverse.
import type { Operation } from 'mlir-parser-ts';
import { elementsOf } from '../tensor.ts';
import { extentsOf, type Contraction, type OperandForm } from './contraction.ts';

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

/** Number of elements; null for a dynamic shape. */
const sizeOf = (shape: readonly number[]) => (shape.some((size) => size < 0) ? null : elementsOf(shape));
