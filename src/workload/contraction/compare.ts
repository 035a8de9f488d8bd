import type { Operation } from 'mlir-parser-ts';
import { extentsOf, type Contraction, type OperandForm } from './contraction.ts';

/** Whether one contraction can be what the compiler has made of the other: the same amount of work, summed in the same type. */
export const isSameWork = (a: Contraction, b: Contraction): boolean =>
  workOf(a) === workOf(b) && a.accumulator.elementType === b.accumulator.elementType;

/** The product of the static sizes, and how many others there are. */
function workOf({ dimensions }: Contraction): string {
  const known = dimensions.filter(({ sizes }) => sizes === undefined);
  return `${product(known.map(({ size }) => size))}, ${dimensions.length - known.length} dynamic`;
}

/** A configuration has one tile per dimension, so both must have the same ones in the same order. */
export const haveSameDimensions = (a: Contraction, b: Contraction): boolean =>
  JSON.stringify(a.dimensions) === JSON.stringify(b.dimensions);

/**
 * Whether a contraction can be what the compiler made of an operation: it has as many results and as large a filter.
 * What the filter is moved over may have become smaller, where it takes steps.
 */
export function isMadeOf(workload: Contraction, { operands }: Operation): boolean {
  const { lhs, rhs, accumulator } = workload;
  const [image, filter, results] = (['lhs', 'rhs', 'accumulator'] as const).map((role) => {
    const type = operands.find((operand) => operand.role === role)?.type;
    return type === undefined || type.kind === 'opaque' || type.shape === null ? null : elements(type.shape);
  });
  const made = (operand: OperandForm) =>
    operand.dimensions.some((d) => workload.dimensions[d]!.sizes !== undefined)
      ? null
      : product(extentsOf(workload, operand));
  const [one, other] = [made(lhs), made(rhs)];
  const fits = (moved: number | null, still: number | null) =>
    still === filter && (moved ?? 0) <= (image ?? Infinity);
  return made(accumulator) === results && (fits(one, other) || fits(other, one));
}

/** How many elements a shape has; null where that is only known at run time. */
const elements = (shape: readonly number[]) => (shape.some((size) => size < 0) ? null : product(shape));

const product = (sizes: readonly number[]) => sizes.reduce((all, size) => all * size, 1);
