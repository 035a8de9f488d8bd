import { describe, expect, test } from 'vitest';
import {
  SCHEMA,
  isConsistent,
  threadsOf,
  type GpuConfiguration,
  type MmaTileConfiguration,
  type SharedSumConfiguration,
  type SimtTileConfiguration,
} from '../../../src/backend/gpu/configuration.ts';
import { illegality, legal, sharedBytes } from '../../../src/backend/gpu/legality.ts';
import { rendered } from '../../../src/backend/gpu/render.ts';
import { compilationInfo } from '../../../src/backend/rendered.ts';
import { isOfSchema, textOfSchema } from '../../../src/backend/schema.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { matmul, workload } from '../../support/workloads.ts';
import { convolution } from './shapes.ts';
import { problemOf } from './targets.ts';

const F16 = ['f16', 'f16', 'f32'] as const;

const mma: MmaTileConfiguration = {
  ...{ version: 1, kind: 'mma-tile', mma: 'NV_MMA_SYNC_F32_16x8x16_F16', subgroupSize: 32 },
  ...{ workgroup: [128, 128, 0], subgroup: [4, 8, 0], subgroups: [2, 2, 0], reduction: [0, 0, 4] },
  ...{ padded: false, igemm: false, bankPadding: true },
};
const simt: SimtTileConfiguration = {
  ...{ version: 1, kind: 'simt-tile', subgroupSize: 32 },
  ...{ workgroup: [64, 64, 0], thread: [8, 4, 0], reduction: [0, 0, 16] },
  ...{ promoted: true, padded: false, igemm: false },
};
const sum: SharedSumConfiguration = {
  ...{ version: 1, kind: 'shared-sum', subgroupSize: 32 },
  ...{ workgroup: [4, 0], reduction: [0, 512], thread: [1, 4], lanes: [1, 32], subgroups: [4, 4] },
};

const why = (work: OperationWork, c: GpuConfiguration, gpu = 'sm_80') => illegality(problemOf(work, gpu), c);

test('the number of threads follows from the tiles', () => {
  expect([mma, simt, sum].map(threadsOf)).toEqual([128, 128, 512]);
});

describe('wrong configurations that the compiler accepts', () => {
  const [f16, f32, uneven] = [matmul(512, 512, 512, F16), matmul(512, 512, 512), matmul(500, 512, 512, F16)];
  const matvec = workload({ m: 4096, k: 4096 });
  const large = { ...mma, workgroup: [512, 512, 0], subgroup: [2, 8, 0], subgroups: [16, 8, 0] };
  const ofOthers = { ...sum, workgroup: [16, 0], lanes: [16, 2], subgroups: [1, 4], reduction: [0, 32] };
  const NO_MMA = 'no matrix instruction of the GPU for these types';
  const REMAINDER = 'a tile leaves a remainder';
  test.each<[string, OperationWork, GpuConfiguration, string | null]>([
    ['all is well', f16, mma, null],
    ['another subgroup size', f16, { ...mma, subgroupSize: 64 }, 'no subgroup size of the GPU'],
    ['more threads than a workgroup can have', f16, large, 'too many threads'],
    [
      'no whole subgroups',
      f16,
      { ...mma, workgroup: [96, 128, 0] },
      'a workgroup is no whole number of tiles',
    ],
    ['an instruction of another GPU', f16, { ...mma, mma: 'MFMA_F32_16x8x16_F16' }, NO_MMA],
    ['an instruction of other types', f32, mma, NO_MMA],
    ['a remainder', uneven, mma, REMAINDER],
    ['a remainder that is padded', uneven, { ...mma, padded: true }, null],
    ['a remainder of threads', matmul(500, 512, 512), simt, REMAINDER],
    ['threads alone', f32, simt, null],
    ['half a subgroup', f32, { ...simt, workgroup: [32, 16, 0] }, 'threads are no whole subgroups'],
    ['too much shared memory', f16, { ...mma, reduction: [0, 0, 32] }, 'too little shared memory'],
    ['a shared sum', matvec, sum, null],
    ['lanes of other sums in a sum of many subgroups', matvec, ofOthers, 'too many subgroups share a sum'],
  ])('%s', (_, own, configuration, rule) => {
    expect(why(own, configuration)).toBe(rule);
  });
});

test('with three prefetch stages every thread loads: the compiler crashes otherwise', () => {
  const own: MmaTileConfiguration = {
    ...mma,
    ...{ mma: 'MFMA_F32_16x16x4_F32', subgroupSize: 64, prefetch: 3, reduction: [0, 0, 1] },
    ...{ workgroup: [32, 64, 0], subgroup: [1, 2, 0], subgroups: [2, 2, 0] },
  };
  const work = matmul(512, 512, 512);
  expect(why(work, own, 'gfx942')).toBe('only some threads load ahead');
  expect(why(work, { ...own, prefetch: 2 }, 'gfx942')).toBeNull();
  expect(why(work, { ...own, reduction: [0, 0, 2] }, 'gfx942')).toBeNull();
});

test('a thread that reads patches without shared memory has few products: a compile takes minutes otherwise', () => {
  const work = convolution('nchw', 2, 32, [128, 64], 3, ['f32', 'f32', 'f32']);
  const own: SimtTileConfiguration = {
    ...{ version: 1, kind: 'simt-tile', subgroupSize: 32, promoted: false, padded: false, igemm: true },
    ...{
      workgroup: [1, 8, 16, 64, 0, 0, 0],
      thread: [1, 4, 8, 2, 0, 0, 0],
      reduction: [0, 0, 0, 0, 0, 0, 16],
    },
  };
  expect(why(work, own, 'gfx1100')).toBe('a thread reads too many patches');
  expect(why(work, { ...own, promoted: true }, 'gfx1100')).toBeNull();
  const smaller = { ...own, workgroup: [1, 8, 8, 64, 0, 0, 0], thread: [1, 4, 4, 2, 0, 0, 0] };
  expect(why(work, smaller, 'gfx1100')).toBeNull();
});

test("AMD's code generator selects no instruction for odd padded tiles of f16", () => {
  const work = matmul(1, 1000, 2048, F16);
  const own: SimtTileConfiguration = {
    ...{ version: 1, kind: 'simt-tile', subgroupSize: 64, promoted: true, padded: true, igemm: false },
    ...{ workgroup: [1, 320, 0], thread: [1, 5, 0], reduction: [0, 0, 4] },
  };
  expect(why(work, own, 'gfx942')).toBe('padded tiles of a narrow type are odd');
  expect(why(work, { ...own, workgroup: [1, 1280, 0], thread: [1, 10, 0] }, 'gfx942')).toBeNull();
  expect(why(work, { ...own, subgroupSize: 32 }, 'sm_80')).toBeNull();
});

test('shared memory holds both operands with bank padding, and a padded result of threads', () => {
  const work = matmul(512, 512, 512, F16);
  expect(sharedBytes({ workload: work }, { ...mma, bankPadding: false })).toBe(2 * 128 * 64 * 2);
  expect(sharedBytes({ workload: work }, mma)).toBe(2 * 128 * 64 * 2 + 2 * 128 * 8);
  expect(sharedBytes({ workload: matmul(500, 500, 500) }, { ...simt, padded: true })).toBe(
    2 * 64 * 16 * 4 + 64 * 64 * 4,
  );
});

test('a tile with a remainder gets padding, unless most of the tile would be padding', () => {
  const padded = (m: number) => legal(problemOf(matmul(m, 512, 512, F16), 'sm_80'), mma);
  expect(padded(500)).toEqual({ ...mma, padded: true });
  expect(padded(40)).toBe('most of a tile is padding');
});

test('a configuration has the spelling of the compiler', () => {
  expect(compilationInfo(rendered(mma, [0, 1, 2])).value).toBe(
    '#iree_codegen.compilation_info<lowering_config = #iree_gpu.lowering_config<{mma_kind = ' +
      '#iree_gpu.mma_layout<NV_MMA_SYNC_F32_16x8x16_F16>, promote_operands = [0, 1], reduction = [0, 0, 4], ' +
      'subgroup = [4, 8, 0], workgroup = [128, 128, 0]}>, translation_info = #iree_codegen.translation_info<pipeline = ' +
      '#iree_gpu.pipeline<TileAndFuse> workgroup_size = [128, 1, 1] subgroup_size = 32, {gpu_pipeline_options = ' +
      '#iree_gpu.pipeline_options<no_reduce_shared_memory_bank_conflicts = false, use_igemm_convolution = false>}>>',
  );
  expect(compilationInfo(rendered({ ...simt, padded: true }, [1, 0, 2])).value).toContain(
    '{padding = [64, 64, 16], promote_operands = [0, 1], reduction = [0, 0, 16], thread = [4, 8, 0], ',
  );
});

test('a product of patches has one loop for all reductions', () => {
  const work = convolution('nchw', 2, 32, [128, 64], 3, F16);
  const own: MmaTileConfiguration = {
    ...{ ...mma, igemm: true, workgroup: [1, 2, 16, 64, 0, 0, 0], subgroup: [1, 1, 1, 2, 0, 0, 0] },
    ...{ subgroups: [1, 2, 2, 2, 0, 0, 0], reduction: [0, 0, 0, 0, 0, 0, 4] },
  };
  expect(why(work, own)).toBeNull();
  expect(compilationInfo(rendered(own, [0, 3, 1, 2, 6, 4, 5])).value).toContain(
    'reduction = [0, 0, 0, 0, 4], subgroup = [1, 2, 1, 1, 0], workgroup = [1, 64, 2, 16, 0]',
  );
});

test('a stored configuration is valid only if its threads fit its tiles', () => {
  for (const own of [mma, simt, sum]) expect(isOfSchema(SCHEMA, own)).toBe(true);
  expect(isOfSchema(SCHEMA, mma, 4)).toBe(false);
  for (const wrong of [
    { ...mma, subgroups: [2, 1, 0] },
    { ...mma, mma: 'NV_MMA_SYNC_F32_16x8x16_F16> <' },
    { ...mma, mma: 'anything' },
    { ...mma, threads: 64 },
    { ...mma, prefetch: '2' },
    { ...simt, thread: [3, 4, 0] },
    { ...simt, promoted: 1 },
    { ...sum, lanes: [2, 32] },
    { ...sum, workgroup: [6, 0] },
    { ...sum, version: 2 },
  ])
    expect(isOfSchema(SCHEMA, wrong), JSON.stringify(wrong)).toBe(false);
});

test('equal configurations have equal keys', () => {
  const keys = [mma, simt, sum, { ...mma, bankPadding: false }, { ...mma, prefetch: 2 }].map((c) =>
    textOfSchema(SCHEMA, c),
  );
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys[0]).toBe(textOfSchema(SCHEMA, { ...mma }));
  expect(isConsistent(mma)).toBe(true);
});
