import { expect, test } from 'vitest';
import type {
  MmaTileConfiguration,
  SharedSumConfiguration,
  SimtTileConfiguration,
} from '../../src/backend/gpu/configuration.ts';
import type { VulkanConfiguration } from '../../src/backend/vulkan/configuration.ts';
import { namesOf, operationsOf, splitKSlices } from '../../src/compat/operation.ts';
import type { DispatchWork } from '../../src/workload/dispatch/dispatch-work.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { matmul, workload } from '../support/workloads.ts';

const one = (of: OperationWork, slices: number | null = null) => operationsOf([{ workload: of }], slices)[0]!;

test('layouts are t for contiguous rows, n for contiguous columns', () => {
  const plain = matmul(8, 16, 4, ['i8', 'i8', 'i32']);
  expect(one(plain).name).toBe('matmul_8x16x4_s8t_s8t_s32t');
  const swapped = (operand: 'lhs' | 'rhs' | 'accumulator'): OperationWork => ({
    ...plain,
    [operand]: { ...plain[operand], dimensions: plain[operand].dimensions.toReversed() },
  });
  expect(one(swapped('lhs')).lhs).toBe('s8n');
  expect(one(swapped('rhs')).rhs).toBe('s8n');
  expect(one(swapped('accumulator')).result).toBe('s32n');
});

test('a missing dimension has size 1', () => {
  expect(one(workload({ n: 64, k: 32 }))).toMatchObject({ m: '1', n: '64', k: '32', batchCount: '1' });
  expect(one(workload({ n: 64, k: 32 })).name).toBe('matmul_1x64x32_f32t_f32t_f32t');
});

test('batch matmuls are a separate kind, and never split', () => {
  const batched = one(workload({ batch: 16, m: 512, n: 64, k: 512 }, ['f16', 'f16', 'f16']), 4);
  expect(batched).toMatchObject({
    ...{ name: 'batch_matmul_16x512x64x512_f16t_f16t_f16t', kind: 'batch_matmul', splitKSlices: null },
    ...{ flops: 2 * 16 * 512 * 64 * 512, bytes: 2 * 16 * (512 * 512 + 512 * 64 + 512 * 64) },
  });
  expect(one(matmul(8, 8, 64), 4)).toMatchObject({ kind: 'matmul_splitk', splitKSlices: 4 });
});

test('dimensions of a kind are multiplied, and a dynamic one lists its sizes', () => {
  const [m, n, k] = matmul(8, 16, 4).dimensions;
  const rows: OperationWork = {
    ...matmul(8, 16, 4),
    dimensions: [{ ...m!, size: 16, sizes: [1, 4, 16] }, n!, k!],
  };
  expect(one(rows)).toMatchObject({ m: '1-4-16', name: 'matmul_1-4-16x16x4_f32t_f32t_f32t' });
  // The measured time is a geometric mean, too.
  expect(one(rows).flops).toBe(2 * 4 * 16 * 4);
  const several: OperationWork = {
    ...matmul(8, 16, 4),
    dimensions: [m!, m!, n!, k!],
    lhs: { elementType: 'f32', dimensions: [0, 1, 3] },
    rhs: { elementType: 'f32', dimensions: [3, 2] },
    accumulator: { elementType: 'f32', dimensions: [0, 1, 2] },
  };
  expect(one(several)).toMatchObject({ m: '64', name: 'matmul_8.8x16x4_f32t_f32t_f32t' });
});

test('only equal names get a suffix', () => {
  const constant: OperationWork = { ...matmul(8, 16, 4), constantRhs: true };
  const placed: OperationWork = { ...matmul(8, 16, 4), context: { digest: '0123456789abcdef' } };
  const works = [matmul(8, 16, 4), constant, placed, matmul(4, 4, 4)].map((workload) => ({ workload }));
  expect(operationsOf(works, null).map(({ name }) => name)).toEqual([
    'matmul_8x16x4_f32t_f32t_f32t',
    'matmul_8x16x4_f32t_f32t_f32t_rhs_constant',
    'matmul_8x16x4_f32t_f32t_f32t_in_01234567',
    'matmul_4x4x4_f32t_f32t_f32t',
  ]);
  expect(one(constant).name).toBe('matmul_8x16x4_f32t_f32t_f32t');
});

test('the last flag sets the split of sums', () => {
  expect(splitKSlices(['-o', 'x'])).toBeNull();
  expect(splitKSlices(['--iree-dispatch-creation-split-matmul-reduction=1'])).toBeNull();
  expect(
    splitKSlices([
      '--iree-flow-split-matmul-reduction=4',
      '--iree-dispatch-creation-split-matmul-reduction=16',
    ]),
  ).toBe(16);
});

test("a dispatch has the compiler's name, with a suffix if it is not unique", () => {
  const softmax: DispatchWork = {
    ...{
      kind: 'dispatch',
      digest: '0123456789abcdef',
      name: 'softmax_6x8x9xf32',
      pipeline: 'DoubleTilingExpert',
    },
    dimensions: [
      { kind: 'm', size: 6 },
      { kind: 'm', size: 8 },
      { kind: 'k', size: 9 },
    ],
    parts: [{ name: 'linalg.generic', loops: [0, 1, 2], reduced: [2] }],
    ...{ elementType: 'f32', lane: 2, bytes: 3456 },
  };
  const [own] = operationsOf([{ workload: softmax }], null);
  expect(own).toMatchObject({
    ...{ kind: 'dispatch', name: 'softmax_6x8x9xf32', bytes: 3456, flops: 432 },
    ...{ m: '48', n: '1', k: '9', result: 'f32t' },
  });
  const other = { ...softmax, digest: 'fedcba9876543210' };
  const all = operationsOf([{ workload: softmax }, { workload: other }], null);
  expect(all.map(({ name }) => name)).toEqual([
    'softmax_6x8x9xf32_in_01234567',
    'softmax_6x8x9xf32_in_fedcba98',
  ]);
});

const MMA: MmaTileConfiguration = {
  ...{ version: 1, kind: 'mma-tile', mma: 'NV_MMA_SYNC_F32_16x8x16_F16', subgroupSize: 32 },
  ...{ workgroup: [64, 128, 0], subgroup: [2, 8, 0], subgroups: [2, 2, 0], reduction: [0, 0, 4] },
  ...{ padded: false, igemm: false, bankPadding: true },
};
const SIMT: SimtTileConfiguration = {
  ...{ version: 1, kind: 'simt-tile', subgroupSize: 32, workgroup: [64, 128, 0], thread: [8, 4, 0] },
  ...{ reduction: [0, 0, 16], promoted: true, padded: false, igemm: false },
};
const SUM: SharedSumConfiguration = {
  ...{ version: 1, kind: 'shared-sum', subgroupSize: 32, workgroup: [4, 1, 0], thread: [1, 1, 4] },
  ...{ reduction: [0, 0, 128], lanes: [1, 1, 32], subgroups: [4, 1, 1] },
};
const SPIRV: VulkanConfiguration = {
  ...{ version: 1, kind: 'spirv-tile', workgroup: [20, 50, 0], thread: [5, 10, 0], reduction: [0, 0, 5] },
};
const COOPERATIVE: VulkanConfiguration = {
  ...{ version: 1, kind: 'spirv-cooperative', depth: 1, storeStage: 0, subgroupSize: 32 },
  ...{ workgroup: [128, 128, 0], thread: [64, 32, 0], reduction: [0, 0, 32], native: [16, 16, 16] },
};

test.each([
  [MMA, '64x128x64', '2x8x1', 'tensorcore', 'mmasync'],
  [{ ...MMA, mma: 'WMMAR3_F32_16x16x16_F16' }, '64x128x64', '2x8x1', 'tensorcore', 'wmma'],
  [{ ...MMA, mma: 'MFMA_F32_16x16x32_F16' }, '64x128x128', '2x8x1', 'tensorcore', 'mfma'],
  [SIMT, '64x128x16', '8x4x1', 'simt', 'ffma'],
  [SUM, '4x1x128', '1x1x4', 'simt', 'ffma'],
  [SPIRV, '20x50x5', '5x10x1', 'simt', 'ffma'],
  [COOPERATIVE, '128x128x32', '64x32x1', 'tensorcore', 'wmma'],
] as const)("%j has the dispatch profiler's tiles and classes", (c, tiles, vectors, core, instruction) => {
  expect(namesOf(matmul(100, 100, 100), c)).toEqual({ tiles, vectors, core, instruction });
});

test('the default has no names', () => {
  expect(namesOf(matmul(100, 100, 100), { version: 1, kind: 'default' })).toBeNull();
});
