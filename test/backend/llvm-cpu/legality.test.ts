import { describe, expect, test } from 'vitest';
import type { TileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { illegality } from '../../../src/backend/llvm-cpu/legality.ts';
import { matmul } from '../../support/workloads.ts';

const base: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [64, 64, 0],
  vectorCommonParallel: [8, 32, 0],
  vectorReduction: [0, 0, 4],
  peeling: false,
};
const shape = matmul(512, 512, 512);
const avx512 = { nativeVectorBytes: 64 };

describe('the legality rules', () => {
  test('accept an ordinary configuration', () => {
    expect(illegality(shape, base, avx512)).toBeNull();
  });

  test.each<[string, Partial<TileConfiguration>, string]>([
    ['too few tiles', { distribution: [64, 64] }, 'distribution has 2 tiles, and the operation 3 dimensions'],
    [
      'a negative tile',
      { distribution: [-1, 64, 0] },
      'distribution has the tile -1: a tile is a whole number from 0',
    ],
    ['a distributed reduction', { distribution: [64, 64, 4] }, 'distribution tiles a reduction dimension'],
    [
      'a reduction tile on a parallel dimension',
      { vectorReduction: [4, 0, 4] },
      'vector_reduction tiles a parallel dimension',
    ],
    [
      'a parallel dimension without a vector tile',
      { vectorCommonParallel: [0, 32, 0] },
      'every dimension needs a vector tile',
    ],
  ])('refuse %s', (_, change, reason) => {
    expect(illegality(shape, { ...base, ...change }, avx512)).toBe(reason);
  });

  test('depend on the width of the vector registers', () => {
    const wide = { ...base, vectorCommonParallel: [8, 64, 0], vectorReduction: [0, 0, 8] };
    expect(illegality(shape, wide, avx512)).toBeNull();
    expect(illegality(shape, wide, { nativeVectorBytes: 32 })).toMatch('the vector tile is too large');
  });
});
