import { expect, test } from 'vitest';
import { canCompareFull, fullAllowance } from '../../src/measure/verify.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { matmul } from '../support/workloads.ts';

const random = seededRandom(1);
/** Between -1 and 1, with all bits of an f32. */
const value = () => Math.fround(2 * random() - 1);
const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
/** The upper half of an f32. */
const bf16 = (x: number): number => {
  float[0] = x;
  bits[0]! &= 0xffff0000;
  return float[0];
};

test.each([1, 10, 1000, 30_000])(
  'sums of %d products in f32, in any order, are within it; those in bf16 are not',
  (k) => {
    const allowed = fullAllowance(matmul(1, 1, k), false).fromExpected(0);
    let largestOfBf16 = 0;
    for (let element = 0; element < 30; element++) {
      const products = Array.from({ length: k }, () => [value(), value()] as const);
      const inTurn = products.reduce((sum, [a, b]) => Math.fround(sum + a * b), 0);
      const lanes = new Float32Array(16);
      for (const [i, [a, b]] of products.entries()) lanes[i % 16]! += a * b;
      const inLanes = lanes.reduce((sum, lane) => Math.fround(sum + lane), 0);
      const reversed = products.reduceRight((sum, [a, b]) => Math.fround(sum + Math.fround(a * b)), 0);
      for (const sum of [inLanes, reversed]) expect(Math.abs(sum - inTurn)).toBeLessThanOrEqual(allowed);
      const short = products.reduce((sum, [a, b]) => Math.fround(sum + bf16(a) * bf16(b)), 0);
      largestOfBf16 = Math.max(largestOfBf16, Math.abs(short - inTurn));
    }
    expect(largestOfBf16).toBeGreaterThan(2 * allowed);
  },
);

test('integers are exact', () => {
  const { fromExpected } = fullAllowance(matmul(4, 4, 4, ['i8', 'i8', 'i32']), false);
  expect(fromExpected(1e9)).toBe(0);
});

test('narrow accumulators are compared with true values, relative to the error of the default', () => {
  const { fromExpected, fromTruth } = fullAllowance(matmul(4, 4, 1024, ['bf16', 'bf16', 'bf16']), true);
  const roundoff = 2 ** -8;
  expect(fromExpected(0)).toBe(32 * roundoff);
  expect(fromTruth(0, 0)).toBe(8 * 32 * roundoff);
  expect(fromTruth(0, 1)).toBe(8);
  // The limit of all roundings applies even to a default with a larger error.
  expect(fromTruth(0, 100)).toBe(3 * 1024 * roundoff);
});

test('values that are all 0, or of unknown types, cannot be compared', () => {
  expect(canCompareFull(matmul(4, 4, 4))).toBe(true);
  expect(canCompareFull(matmul(4, 4, 4, ['i8', 'i8', 'f32']))).toBe(true);
  expect(canCompareFull(matmul(4, 4, 4, ['i4', 'i8', 'i32']))).toBe(true);
  expect(canCompareFull(matmul(4, 4, 4, ['f32', 'f32', 'i32']))).toBe(false);
  expect(canCompareFull(matmul(4, 4, 4, ['f8E4M3FN', 'f8E4M3FN', 'f8E4M3FN']))).toBe(false);
});
