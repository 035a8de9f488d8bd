// Maps configurations of one shape to legal points of another, and to their own points for the same shape.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { carried } from '../../src/search/counterpart.ts';
import { randomPoint, seededRandom } from '../../src/search/strategy.ts';
import type { Workload } from '../../src/workload/workload.ts';
import { tiles, WIDE } from '../support/backend.ts';
import { convolution, matmul, softmax, workload } from '../support/workloads.ts';

const OPTIONS = { ...WIDE, threads: 2, wholeProgram: true };
const spaceOf = (one: Workload) => llvmCpu.tuning(one).space(OPTIONS);

const KINDS: Readonly<Record<string, (a: number, b: number, c: number) => Workload>> = {
  'a matmul': (m, n, k) => matmul(m, n, k),
  'a matvec': (m, _, k) => workload({ m, k }),
  'a batched matmul': (m, n, k) => workload({ batch: 1 + (m % 7), m, n, k }),
  'a convolution': (m, n, k) => convolution(1 + (m % 300), n, k),
  'a depthwise convolution': (m, n) => convolution(1 + (m % 300), n, null),
  'a dispatch': (m, n) => softmax(m, n),
};
const size = fc.integer({ min: 1, max: 3000 });

describe.each(Object.entries(KINDS))('%s', (_, workOf) => {
  test('maps to the same legal point each time, and to itself for the same shape', () => {
    fc.assert(
      fc.property(fc.tuple(size, size, size), fc.tuple(size, size, size), fc.nat(), (one, other, seed) => {
        const [from, to] = [spaceOf(workOf(...one)), spaceOf(workOf(...other))];
        const random = seededRandom(seed);
        const points = [
          ...from.starts.slice(0, 4),
          ...Array.from({ length: 4 }, () => randomPoint(from, random)),
        ];
        for (const point of points) {
          const configuration = from.configurationAt(point);
          if (configuration === null) continue;
          const there = carried(configuration, from, to);
          // Some dispatches have no knobs.
          if (to.starts.length > 0) expect(there && to.configurationAt(there)).not.toBeNull();
          expect(carried(configuration, from, spaceOf(workOf(...other)))).toEqual(there);
          const back = carried(configuration, from, spaceOf(workOf(...one)));
          expect(back && from.configurationAt(back)).toEqual(configuration);
        }
      }),
      { numRuns: 40 },
    );
  });
});

const TILE: Configuration = tiles([77, 300, 0], [7, 32, 0], [0, 0, 3], true);

test('a configuration off the grid maps to the nearest values, and a whole dimension to a whole dimension', () => {
  const [from, to] = [spaceOf(matmul(77, 300, 301)), spaceOf(matmul(512, 1000, 640))];
  expect(to.configurationAt(carried(TILE, from, to)!)).toMatchObject({
    distribution: [512, 1000, 0],
    vectorCommonParallel: [expect.toSatisfy((rows: number) => rows >= 6 && rows <= 8), 32, 0],
  });
});

test('a configuration that no knobs express has no point', () => {
  const space = spaceOf(matmul(64, 64, 64));
  expect(carried<Configuration>(DATA_TILE_CONFIGURATION, space, space)).toBeNull();
  expect(carried(TILE, spaceOf(softmax(4, 8)), space)).toBeNull();
});
