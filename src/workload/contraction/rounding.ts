// How far apart results may be that are sums of the same full values, rounded in another order. Pure.
import { elementBits, isFloat, isInteger } from '../element-type.ts';
import type { Contraction, OperandForm } from './contraction.ts';

import type { Allowance } from '../kind.ts';

/** Largest relative error of one rounding, of the types in which floats are summed and compared. */
const ROUNDOFF: Readonly<Record<string, number>> = {
  f64: 2 ** -53,
  f32: 2 ** -24,
  f16: 2 ** -11,
  bf16: 2 ** -8,
};

/**
 * A sum of k products between -1 and 1, of either sign at random, grows like the root of k, and rounding it at every step
 * comes to a standard deviation of a tenth of k times the roundoff. This many times k times the roundoff is exceeded by
 * less than one of 10^10 elements. In a kernel that makes bf16 of f32, products are off by 2^-9 and more, and the sum by
 * 4e-4 times the root of k: 9 times as much at k = 2^16, and more below.
 */
const ROUNDINGS = 3;

/** How many times as far from the truth as the default: kernels sum up to 64 products before they round to a narrow type. */
const LESS_EXACT = 8;

/** Whether results of full values say anything: as integers all fractions would be 0. */
export function canCompareFull({ lhs, rhs, accumulator }: Contraction): boolean {
  return isFloat(accumulator.elementType)
    ? accumulator.elementType in ROUNDOFF
    : [lhs, rhs].every(({ elementType }) => isInteger(elementType));
}

/** Largest absolute full value. */
const largest = ({ elementType }: OperandForm) =>
  isFloat(elementType) ? 1 : 2 ** (elementBits(elementType) - 1);

/**
 * What results of full values may differ by. Integers wrap, and are exact in any order.
 * @param workload of static sizes
 * @param hasTruth whether they are compared with the truth, too
 */
export function fullAllowance(
  { dimensions, lhs, rhs, accumulator }: Contraction,
  hasTruth: boolean,
): Allowance {
  const products = dimensions.reduce((count, { kind, size }) => (kind === 'k' ? count * size : count), 1);
  const roundoff = (ROUNDOFF[accumulator.elementType] ?? 0) * largest(lhs) * largest(rhs);
  const everyStep = ROUNDINGS * products * roundoff;
  const once = Math.sqrt(products) * roundoff;
  return {
    fromExpected: () => (hasTruth ? once : everyStep),
    fromTruth: (_, expectedError) => Math.min(everyStep, LESS_EXACT * Math.max(expectedError, once)),
  };
}
