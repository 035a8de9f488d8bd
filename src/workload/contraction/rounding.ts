// Allowed errors of sums of full values: kernels round in different orders. Pure.
import { elementBits, isFloat, isInteger } from '../element-type.ts';
import type { Contraction, OperandForm } from './contraction.ts';
import type { Allowance } from '../kind.ts';

/** Unit roundoff of each type of sums. */
const ROUNDOFF: Readonly<Record<string, number>> = {
  f64: 2 ** -53,
  f32: 2 ** -24,
  f16: 2 ** -11,
  bf16: 2 ** -8,
};

/**
 * The allowed error of a sum, in units of k times the roundoff. A sum of k random products between -1 and 1 grows like the
 * square root of k. Rounding at every step gives it a standard deviation of k times the roundoff, divided by 10, so less than
 * one of 10^10 elements exceeds the limit. A kernel that converts f32 to bf16 has errors of 4e-4 times the square root of k:
 * 9 times the limit at k = 2^16, and more for a smaller k.
 */
const ROUNDINGS = 3;

/** Allowed error in units of the default's error. Some kernels sum up to 64 products before they round to a narrow type. */
const LESS_EXACT = 8;

/** Whether results of full values can be compared. Floats summed as integers cannot: all fractions are 0. */
export function canCompareFull({ lhs, rhs, accumulator }: Contraction): boolean {
  return isFloat(accumulator.elementType)
    ? accumulator.elementType in ROUNDOFF
    : [lhs, rhs].every(({ elementType }) => isInteger(elementType));
}

/** Largest absolute full value. */
const largest = ({ elementType }: OperandForm) =>
  isFloat(elementType) ? 1 : 2 ** (elementBits(elementType) - 1);

/**
 * The allowed errors of results of full values. Sums of integers wrap and are exact in any order.
 * @param workload with static sizes
 * @param hasTruth whether results are also compared with true values
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
