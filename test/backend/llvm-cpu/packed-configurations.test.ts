import { expect, test } from 'vitest';
import { configurationKey, isConfiguration } from '../../../src/backend/index.ts';
import { packedConfigurations } from '../../../src/backend/llvm-cpu/packed-configurations.ts';
import { matmul } from '../../support/workloads.ts';

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
