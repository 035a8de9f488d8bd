import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isConfiguration } from '../../../src/backend/index.ts';
import { llvmCpuSpace } from '../../../src/backend/llvm-cpu/tile-space.ts';
import { pointOf, spaceSize } from '../../../src/search/space.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { drawn, startsOf } from '../drawn.ts';
import { WIDE } from '../../support/backend.ts';
import { matmul, workload } from '../../support/workloads.ts';
import type { TileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';

const options = { ...WIDE, wholeProgram: true };

/** The limits for an f32 matmul on AVX-512; compiles.test.ts compares them with the compiler. */
function expectLegal(sizes: readonly [m: number, n: number, k: number], c: TileConfiguration): void {
  const none = [0, 0, 0];
  for (const parallel of [c.distribution, c.cacheParallel ?? none, c.vectorCommonParallel])
    expect(parallel).toEqual([expect.any(Number), expect.any(Number), 0]);
  for (const reduction of [c.cacheReduction ?? none, c.vectorReduction])
    expect(reduction).toEqual([0, 0, expect.any(Number)]);
  const vector = [...c.vectorCommonParallel.slice(0, 2), c.vectorReduction[2]!];
  expect(Math.min(...vector)).toBeGreaterThanOrEqual(1);
  expect(vector.reduce((product, tile) => product * tile, 4)).toBeLessThan(32_768);
  if (c.cacheReduction === undefined) return;
  const [rows, columns] = [0, 1].map((d) => {
    const workgroup = Math.min(sizes[d]!, c.distribution[d] || Infinity);
    const cache = c.cacheParallel?.[d] || Infinity;
    // A workgroup tile with a remainder has no static size. Then the cache tile alone is a bound.
    return Math.min(
      sizes[d]!,
      cache,
      sizes[d]! % workgroup === 0 || cache === Infinity ? workgroup : Infinity,
    );
  });
  expect(4 * rows! * columns!).toBeLessThan(32_768);
}

describe('the llvm-cpu space', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 2 ** 31 }));
  test('has starts for dimensions of any size, and only legal configurations, which can be stored', () => {
    fc.assert(
      fc.property(size, size, size, fc.nat(), (m, n, k, seed) => {
        const space = llvmCpuSpace(matmul(m, n, k), options);
        const random = seededRandom(seed);
        const points = Array.from({ length: 20 }, () => randomPoint(space, random));
        const found = points.flatMap((point) => space.configurationAt(point) ?? []);
        for (const one of [...startsOf(space, 'tile'), ...(found as TileConfiguration[])]) {
          expectLegal([m, n, k], one);
          expect(isConfiguration(one, 3)).toBe(true);
        }
      }),
    );
  });

  test('finds the point of each of its configurations again', () => {
    const found = drawn(llvmCpuSpace(matmul(512, 512, 512), options), 3, 200, 5);
    expect(found.length).toBeGreaterThan(20);
  });

  test('starts with at least one workgroup per thread if the shape allows it', () => {
    const space = llvmCpuSpace(matmul(512, 512, 512), { ...options, threads: 8 });
    for (const { distribution } of startsOf(space, 'tile')) {
      const [m, n] = distribution;
      expect(Math.ceil(512 / m!) * Math.ceil(512 / n!)).toBeGreaterThanOrEqual(8);
    }
  });

  test('divides work among threads into even parts', () => {
    const space = llvmCpuSpace(matmul(512, 512, 512), { ...options, threads: 2 });
    const [first] = startsOf(space, 'tile');
    expect(first!.distribution.map((tile) => tile && 512 % tile)).toEqual([0, 0, 0]);
    const [m, n] = first!.distribution;
    expect((512 / m!) * (512 / n!)).toBeGreaterThanOrEqual(24);
  });

  test.each([256, 512, 1024, 2048])(
    'leaves each of many workgroups whole register tiles and enough work, for 64 threads and a size of %i',
    (size) => {
      const space = llvmCpuSpace(matmul(size, size, size), { ...options, threads: 64 });
      const starts = startsOf(space, 'tile');
      for (const { distribution, vectorCommonParallel } of starts) {
        const [m, n] = distribution;
        const workgroups = Math.ceil(size / m!) * Math.ceil(size / n!);
        if (workgroups > 2 * 64) {
          expect(m).toBeGreaterThanOrEqual(vectorCommonParallel[0]!);
          expect(n).toBeGreaterThanOrEqual(vectorCommonParallel[1]!);
          expect(m! * n! * size).toBeGreaterThanOrEqual(2 ** 19);
        }
        if (size > 256) expect(workgroups).toBeGreaterThanOrEqual(64);
      }
      expect(Math.min(...starts[0]!.distribution.slice(0, 2))).toBeGreaterThanOrEqual(32);
    },
  );

  test.each([512, 997])(
    'peels in its starts exactly where a vector tile leaves a remainder of %i',
    (size) => {
      const space = llvmCpuSpace(matmul(size, size, size), options);
      for (const one of startsOf(space, 'tile')) {
        const tiles = [...one.vectorCommonParallel.slice(0, 2), one.vectorReduction[2]!];
        expect(one.peeling).toBe(tiles.some((tile) => size % tile !== 0));
      }
    },
  );

  test.each([
    // Registers hold accumulators, a row of one operand and an element of the other operand.
    [16, 16],
    [32, 16],
    [64, 32],
  ])(
    'first tries accumulators of vectors of %i bytes that fit %i registers',
    (nativeVectorBytes, registers) => {
      const space = llvmCpuSpace(matmul(384, 384, 384), {
        ...options,
        nativeVectorBytes,
        vectorRegisters: registers,
      });
      const lanes = nativeVectorBytes / 4;
      expect(space.starts.length).toBeGreaterThan(3);
      for (const { vectorCommonParallel } of startsOf(space, 'tile').slice(0, 4)) {
        const [rows, columns] = vectorCommonParallel;
        expect((rows! * columns!) / lanes).toBeLessThan(registers);
      }
    },
  );

  test('first tries tiles of one row for a single row', () => {
    const spaceOf = (work: OperationWork) => llvmCpuSpace(work, { ...options, nativeVectorBytes: 32 });
    const firstOf = (work: OperationWork) => startsOf(spaceOf(work), 'tile')[0]!;
    expect(firstOf(workload({ n: 1024, k: 576 }))).toMatchObject({
      distribution: [1024, 0],
      // A few rows of the matrix at a time, with a long contiguous read of each.
      cacheReduction: [0, 8],
      vectorCommonParallel: [32, 0],
    });
    // All workgroups have as many columns: 2048 of them would leave one with half as many.
    const uneven = workload({ n: 3072, k: 576 });
    expect(firstOf(uneven)).toMatchObject({ distribution: [1024, 0] });
    const space = spaceOf(uneven);
    const whole = { ...firstOf(uneven), distribution: [3072, 0] };
    expect(space.configurationAt(pointOf(space, whole)!)).not.toBeNull();
    // The compiler would unroll the fused operation for all of them.
    const fused = spaceOf({ ...uneven, context: { digest: '0123456789abcdef' } });
    expect(fused.configurationAt(pointOf(fused, whole)!)).toBeNull();
  });

  test('is large enough to need a search', () => {
    expect(spaceSize(llvmCpuSpace(matmul(512, 512, 512), options))).toBeGreaterThan(1e6);
  });
});
