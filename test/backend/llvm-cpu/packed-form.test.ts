import { expect, test } from 'vitest';
import type { PackedForm } from '../../../src/backend/llvm-cpu/configuration.ts';
import { packedFormOf, packedShapes } from '../../../src/backend/llvm-cpu/packed-form.ts';
import { matmul, workload } from '../../support/workloads.ts';

const straight: PackedForm = { inner: [16, 8, 2], swapped: false };
const swapped: PackedForm = { inner: [16, 8, 2], swapped: true };

test('operands are padded to whole tiles, on the side of the compiler', () => {
  const shape = matmul(33, 100, 7);
  expect(packedShapes(shape, straight)).toEqual([
    [3, 4, 16, 2],
    [13, 4, 8, 2],
  ]);
  expect(packedShapes(shape, swapped)).toEqual([
    [7, 4, 16, 2],
    [5, 4, 8, 2],
  ]);
  expect(packedShapes(workload({ batch: 2, m: 33, n: 100, k: 7 }), straight)).toBeNull();
});

test('shapes give the form, but not for another workload', () => {
  const shape = matmul(33, 100, 7);
  for (const form of [straight, swapped])
    expect(packedFormOf(shape, packedShapes(shape, form)!)).toEqual(form);
  expect(packedFormOf(matmul(34, 200, 7), packedShapes(shape, straight)!)).toBeNull();
});
