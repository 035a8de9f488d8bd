import { expect, test } from 'vitest';
import { configurationKey, isConfiguration } from '../../../src/backend/index.ts';
import type { PackedForm } from '../../../src/backend/llvm-cpu/configuration.ts';
import { packedConfigurations, packedFormOf, packedShapes } from '../../../src/backend/llvm-cpu/packed.ts';
import { matmul, workload } from '../../support/workloads.ts';

test('candidates are distinct, valid in a database, and have work for every thread', () => {
  for (const [shape, threads, isDistributed] of [
    [matmul(2048, 2048, 2048), 1, true],
    [matmul(2048, 2048, 2048), 64, true],
    [matmul(20, 20, 20), 4, false],
  ] as const) {
    const tried = packedConfigurations(shape, { inner: [16, 16, 1], swapped: false }, threads);
    expect(tried.length).toBeGreaterThan(0);
    expect(new Set(tried.map(configurationKey)).size).toBe(tried.length);
    expect(tried.some(({ packed }) => packed!.distribution !== undefined)).toBe(isDistributed);
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

test('an inexact configuration is not used', () => {
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
