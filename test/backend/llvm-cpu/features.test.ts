// Features for a prior.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FEATURES, tileFeatures } from '../../../src/backend/llvm-cpu/features.ts';
import { llvmCpuSpace } from '../../../src/backend/llvm-cpu/tile-space.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import { tiles, WIDE } from '../../support/backend.ts';
import { matmul } from '../../support/workloads.ts';

const OPTIONS = { ...WIDE, threads: 2 };
const size = fc.integer({ min: 1, max: 5000 });

test('every legal configuration has one finite number for each name', () => {
  fc.assert(
    fc.property(size, size, size, fc.nat(), (m, n, k, seed) => {
      const work = matmul(m, n, k);
      const space = llvmCpuSpace(work, OPTIONS);
      const random = seededRandom(seed);
      for (let i = 0; i < 20; i++) {
        const configuration = space.configurationAt(randomPoint(space, random));
        if (configuration?.kind !== 'tile') continue;
        const features = tileFeatures(work, configuration, OPTIONS);
        expect(features).toHaveLength(FEATURES.length);
        expect(features.every(Number.isFinite)).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});

test('features tell registers, remainders and workgroups', () => {
  const configuration = tiles([100, 256, 0], [8, 32, 0], [0, 0, 4], true);
  const features = tileFeatures(matmul(300, 512, 450), configuration, OPTIONS);
  const named = Object.fromEntries(FEATURES.map((name, i) => [name, features[i]]));
  expect(named).toMatchObject({
    ...{ rows: 3, vectors: 1, depth: 2, accumulators: 4, registers: 19 / 32, spilled: 0 },
    ...{ rowRemainder: 4 / 300, laneRemainder: 0, depthRemainder: 2 / 450, peeling: 1 },
    ...{ idle: 0, hasCache: 0, workgroupRemainderM: 0, isBf16: 0 },
    // Each part of 100 rows has 12 whole tiles.
    ...{ wholeM: 288 / 300, usefulM: 300 / 312, wholeN: 1, wholeK: 448 / 450 },
    // Sums: 16 products in two units take longer than anything else.
    ...{ cyclesPerSum: 0 },
  });
  // 300 rows in three parts and 512 columns in two.
  expect(named['workgroups']).toBeCloseTo(Math.log2(6));
});
