import { describe, expect, test } from 'vitest';
import { illegality } from '../../../src/backend/llvm-cpu/legality.ts';
import { tiles } from '../../support/backend.ts';
import { matmul } from '../../support/workloads.ts';

const base = tiles([64, 64, 0], [8, 32, 0], [0, 0, 4]);
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

  // The emulator computes wrong sums for this tile of neoverse-v1: see `emulated.test.ts`.
  test('reject square vectors of bytes for a CPU with products of matrices of bytes', () => {
    const square = { ...base, vectorCommonParallel: [8, 8, 0], vectorReduction: [0, 0, 8] };
    const bytes = matmul(512, 512, 512, ['i8', 'i8', 'i32']);
    const transposed = { ...bytes, rhs: { ...bytes.rhs, dimensions: [1, 2] } };
    const unit = { nativeVectorBytes: 16, hasByteMatrices: true } as const;
    expect(illegality(bytes, square, unit)).toMatch('wrong sums');
    expect(illegality(bytes, square, { nativeVectorBytes: 16 })).toBeNull();
    expect(illegality(bytes, { ...square, vectorReduction: [0, 0, 4] }, unit)).toBeNull();
    expect([transposed, shape].map((one) => illegality(one, square, unit))).toEqual([null, null]);
  });
});
