import { expect, test } from 'vitest';
import type {
  MmaTileConfiguration,
  SharedSumConfiguration,
  SimtTileConfiguration,
} from '../../src/backend/gpu/configuration.ts';
import type { VulkanConfiguration } from '../../src/backend/vulkan/configuration.ts';
import { namesOf } from '../../src/compat/operation.ts';
import { matmul } from '../support/workloads.ts';

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
