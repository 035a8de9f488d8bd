import { expect, test } from 'vitest';
import { configurationKey, type PackedForm } from '../../src/space/configuration.ts';
import { packedConfigurations, packedFormOf, packedShapes } from '../../src/space/packed.ts';
import { isConfiguration } from '../../src/store/validate.ts';
import { matmul, workload } from '../support/workloads.ts';

const straight: PackedForm = { inner: [16, 8, 2], swapped: false };
const swapped: PackedForm = { inner: [16, 8, 2], swapped: true };

test('operands are padded to whole tiles, on the side that the compiler puts them', () => {
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

test('the form is known from the shapes, and unknown where they are of another workload', () => {
  const shape = matmul(33, 100, 7);
  for (const form of [straight, swapped])
    expect(packedFormOf(shape, packedShapes(shape, form)!)).toEqual(form);
  expect(packedFormOf(matmul(34, 200, 7), packedShapes(shape, straight)!)).toBeNull();
});

test('what is tried is distinct, valid in a database, and leaves work for every thread', () => {
  for (const [shape, threads] of [
    [matmul(2048, 2048, 2048), 1],
    [matmul(2048, 2048, 2048), 64],
    [matmul(20, 20, 20), 4],
  ] as const) {
    const tried = packedConfigurations(shape, { inner: [16, 16, 1], swapped: false }, threads);
    expect(tried.length).toBeGreaterThan(0);
    expect(new Set(tried.map(configurationKey)).size).toBe(tried.length);
    for (const configuration of tried) {
      expect(isConfiguration(JSON.parse(JSON.stringify(configuration)), 3)).toBe(true);
      const { distribution } = configuration.packed!;
      const rows = Math.ceil(shape.dimensions[0]!.size / 16);
      if (distribution !== undefined)
        expect(Math.ceil(rows / distribution[0]) * Math.ceil(rows / distribution[1])).toBeGreaterThanOrEqual(
          threads,
        );
    }
  }
});

test('what is not exactly such a configuration is not used', () => {
  const packed = { inner: [16, 16, 1], swapped: false, distribution: [8, 8] };
  const valid = (changed: object, rank = 3) =>
    isConfiguration({ version: 1, kind: 'data-tile', packed: { ...packed, ...changed } }, rank);
  expect(valid({})).toBe(true);
  expect(valid({}, 4)).toBe(false);
  expect(valid({ inner: [16, 16] })).toBe(false);
  expect(valid({ swapped: 'no' })).toBe(false);
  expect(valid({ distribution: [0, 8] })).toBe(false);
  expect(valid({ packing: ['1', 64] })).toBe(false);
  expect(valid({ text: '#iree_cpu' })).toBe(false);
});
