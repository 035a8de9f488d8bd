// A restricted search space has the user's values only. Illegal values come with a reason.
import { describe, expect, test } from 'vitest';
import type { KnobValues, SpaceOptions } from '../../../src/backend/backend.ts';
import { DATA_TILE_CONFIGURATION } from '../../../src/backend/llvm-cpu/configuration.ts';
import { illegality } from '../../../src/backend/llvm-cpu/legality.ts';
import { llvmCpu } from '../../../src/backend/llvm-cpu/index.ts';
import { coordinateDescent } from '../../../src/search/descent.ts';
import { gridSearch } from '../../../src/search/grid.ts';
import { randomSearch } from '../../../src/search/random.ts';
import { seededRandom, type StrategyFactory } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { PACKED, TILED } from '../../compat/samples.ts';
import { WIDE } from '../../support/backend.ts';
import { matmul, workload } from '../../support/workloads.ts';

const options = (only?: KnobValues): SpaceOptions => ({
  ...WIDE,
  ...{ wholeProgram: true, following: true },
  ...(only && { only }),
});
const PUBLISHED: KnobValues = {
  ...{ distribution_m: [64, 128], distribution_n: [32, 64], cache_k: [32, 64, 128, 256], data_tiling: [0] },
};

function tried(strategy: StrategyFactory, of: OperationWork, only: KnobValues, count: number) {
  const space = llvmCpu.tuning(of).space(options(only));
  const search = strategy(space, seededRandom(3));
  const found = [];
  while (found.length < count) {
    const points = search.propose(Math.min(16, count - found.length));
    if (points.length === 0) break;
    found.push(...points.map((point) => space.configurationAt(point)!));
    search.observe(points.map((point, i) => ({ point, cost: 1 + i / 100 })));
  }
  return found;
}

describe.each([
  ['descent', coordinateDescent],
  ['random', randomSearch],
  ['grid', gridSearch],
])('a restricted space searched by %s', (_, strategy) => {
  test('has legal, allowed configurations, and data tiling only if it is allowed', () => {
    const shape = matmul(512, 512, 512);
    const found = tried(strategy, shape, PUBLISHED, 64);
    expect(found).toHaveLength(64);
    for (const one of found) {
      if (one.kind !== 'tile') throw new Error(one.kind);
      expect(illegality(shape, one, { nativeVectorBytes: 64 })).toBeNull();
      const values = llvmCpu.schema.columns(shape, one);
      for (const [name, allowed] of Object.entries(PUBLISHED))
        expect(allowed).toContain(Number(values[name]));
    }
    expect(llvmCpu.tuning(shape).space(options(PUBLISHED)).alternatives).toEqual([]);
    expect(llvmCpu.tuning(shape).space(options({ vector_m: [4] })).alternatives).toEqual([
      DATA_TILE_CONFIGURATION,
    ]);
  });
});

test('a grid begins with every combination of the named values, before other knobs change', () => {
  const shape = matmul(512, 512, 512);
  const only = { ...PUBLISHED, distribution_m: [32, 64], distribution_n: [16, 32] };
  const combinations = tried(gridSearch, shape, only, 16).map((one) => {
    const { distribution_m, distribution_n, cache_k, ...rest } = llvmCpu.schema.columns(shape, one);
    return { own: [distribution_m, distribution_n, cache_k].join(), rest: JSON.stringify(rest) };
  });
  expect(new Set(combinations.map(({ own }) => own)).size).toBe(16);
  expect(new Set(combinations.map(({ rest }) => rest)).size).toBe(1);
});

test('a user may name values outside of the space', () => {
  const only = { vector_m: [7], distribution_n: [100], peeling: [1], data_tiling: [0] };
  const [one] = tried(gridSearch, matmul(300, 300, 300), only, 1);
  expect(one).toMatchObject({ vectorCommonParallel: [7, expect.any(Number), 0], peeling: true });
});

test('with data tiling alone there are no tiles', () => {
  const space = llvmCpu.tuning(matmul(64, 64, 64)).space(options({ data_tiling: [1] }));
  expect(space.alternatives).toEqual([DATA_TILE_CONFIGURATION]);
  expect(tried(randomSearch, matmul(64, 64, 64), { data_tiling: [1] }, 1)).toEqual([]);
  const only = options({ data_tiling: [1], vector_m: [999] });
  expect(llvmCpu.tuning(matmul(64, 64, 64)).illegalValues!(only)).toEqual([]);
});

test('a restricted search covers no family', () => {
  expect(llvmCpu.tuning(matmul(64, 64, 64)).families(options())).toEqual(['data-tile', 'tile']);
  expect(llvmCpu.tuning(matmul(64, 64, 64)).families(options({ peeling: [0] }))).toEqual([]);
});

describe('an illegal value', () => {
  const illegal = (of: OperationWork, only: KnobValues) =>
    llvmCpu.tuning(of).illegalValues!(options(only)).map(
      ({ knob, value, rule }) => `${knob}=${value}: ${rule}`,
    );

  test('comes with the broken rule, and the other values stay', () => {
    expect(illegal(matmul(512, 512, 512), PUBLISHED)).toEqual([]);
    expect(illegal(matmul(48, 512, 512), { distribution_m: [16, 64, 128] })).toEqual([
      'distribution_m=64: the tile is larger than the dimension (m=48)',
      'distribution_m=128: the tile is larger than the dimension (m=48)',
    ]);
    expect(illegal(matmul(8192, 8192, 64), { vector_m: [8, 8192] })).toEqual([
      'vector_m=8192: the vector tile is too large: it must stay below 32768 bytes',
    ]);
    const tiles = { distribution_m: [256], distribution_n: [256] };
    const blocks = { ...tiles, cache_m: [0], cache_n: [0], cache_k: [0, 64] };
    expect(illegal(matmul(512, 512, 512), blocks)).toEqual([
      'cache_k=64: the result tile of the cache_reduction loop is too large: it must stay below 32768 bytes',
    ]);
    for (const one of tried(gridSearch, matmul(512, 512, 512), blocks, 8))
      expect(one).not.toHaveProperty('cacheReduction');
  });

  test('leaves nothing to search if there is no other value', () => {
    const only = { distribution_m: [64], data_tiling: [0] };
    for (const strategy of [coordinateDescent, gridSearch])
      expect(tried(strategy, matmul(16, 16, 16), only, 8)).toEqual([]);
  });

  test('of a missing dimension has no effect', () => {
    expect(illegal(matmul(64, 64, 64), { vector_batch: [4], distribution_batch: [1] })).toEqual([]);
    expect(illegal(workload({ batch: 2, m: 8, n: 8, k: 8 }), { distribution_batch: [2, 4] })).toEqual([
      'distribution_batch=4: the tile is larger than the dimension (batch=2)',
    ]);
  });
});

test('all configurations of a workload have the same columns', () => {
  const shape = matmul(64, 64, 256);
  const [tiled, packed] = [llvmCpu.schema.columns(shape, TILED), llvmCpu.schema.columns(shape, PACKED)];
  expect(Object.keys(packed)).toEqual(Object.keys(tiled));
  expect(tiled).toMatchObject({
    ...{ distribution_m: 64, distribution_n: 32, cache_m: 0, cache_k: 128 },
    ...{ vector_m: 8, vector_n: 16, vector_k: 4 },
    ...{ inner: 0, peeling: true, data_tiling: false, packed_first: null },
  });
  expect(packed).toMatchObject({ vector_m: null, data_tiling: true, packed_first: 4, packed_second: 8 });
});
