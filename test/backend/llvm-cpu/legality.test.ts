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

  test('depend on the width of the vector registers', () => {
    const wide = { ...base, vectorCommonParallel: [8, 64, 0], vectorReduction: [0, 0, 8] };
    expect(illegality(shape, wide, avx512)).toBeNull();
    expect(illegality(shape, wide, { nativeVectorBytes: 32 })).toMatch('the vector tile is too large');
  });
});
