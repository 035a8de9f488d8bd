import { expect, test } from 'vitest';
import { readGpuTarget } from '../../../src/backend/gpu/target.ts';
import { gpuTarget } from './targets.ts';

test('a target has the limits and instructions of an NVIDIA GPU', () => {
  expect(gpuTarget('sm_89')).toEqual({
    architecture: 'sm_89',
    mma: [
      { name: 'NV_MMA_SYNC_F32_16x8x16_F16', m: 16, n: 8, k: 16, lhs: 'f16', rhs: 'f16', accumulator: 'f32' },
      { name: 'NV_MMA_SYNC_F16_16x8x16_F16', m: 16, n: 8, k: 16, lhs: 'f16', rhs: 'f16', accumulator: 'f16' },
      {
        name: 'NV_MMA_SYNC_F32_16x8x16_BF16',
        ...{ m: 16, n: 8, k: 16, lhs: 'bf16', rhs: 'bf16', accumulator: 'f32' },
      },
      {
        name: 'NV_MMA_SYNC_F32_16x8x32_F8E4M3FN',
        ...{ m: 16, n: 8, k: 32, lhs: 'f8E4M3FN', rhs: 'f8E4M3FN', accumulator: 'f32' },
      },
      {
        name: 'NV_MMA_SYNC_F32_16x8x32_F8E5M2',
        ...{ m: 16, n: 8, k: 32, lhs: 'f8E5M2', rhs: 'f8E5M2', accumulator: 'f32' },
      },
      { name: 'NV_WMMA_F32_16x16x16_F16', m: 16, n: 16, k: 16, lhs: 'f16', rhs: 'f16', accumulator: 'f32' },
      { name: 'NV_WMMA_F16_16x16x16_F16', m: 16, n: 16, k: 16, lhs: 'f16', rhs: 'f16', accumulator: 'f16' },
    ],
    subgroupSizes: [32],
    workgroupSizes: [1024, 1024, 1024],
    threads: 1024,
    sharedMemoryBytes: 101376,
  });
});

test('a target has no instructions of several blocks, but instructions with two operand types', () => {
  const { mma } = gpuTarget('gfx942');
  expect(mma.filter(({ name }) => /x\d+B_/.test(name))).toEqual([]);
  expect(mma.find(({ lhs, rhs }) => lhs !== rhs)).toEqual({
    name: 'MFMA_F32_16x16x32_F8E5M2FNUZ_F8E4M3FNUZ',
    ...{ m: 16, n: 16, k: 32, lhs: 'f8E5M2FNUZ', rhs: 'f8E4M3FNUZ', accumulator: 'f32' },
  });
  expect(mma.find(({ lhs }) => lhs === 'i8')).toMatchObject({ accumulator: 'i32', k: 32 });
});

test('a target has no scaled instructions', () => {
  expect(gpuTarget('gfx950').mma.map(({ name }) => name)).not.toContain('MFMA_SCALE_F32_16x16x128_B32');
});

test('the preferred size of a subgroup comes first', () => {
  expect(gpuTarget('gfx1100').subgroupSizes).toEqual([32, 64]);
});

test('a GPU without matrix instructions has none', () => {
  expect(gpuTarget('llvmpipe')).toMatchObject({ mma: [], subgroupSizes: [8], sharedMemoryBytes: 32768 });
  expect(gpuTarget('android')).toMatchObject({
    ...{ workgroupSizes: [128, 128, 64], threads: 128 },
  });
});

test.each([
  ['no target', 'module {}'],
  ['no limits', '#iree_gpu.target<arch = "sm_80", wgp = <compute = fp32>>'],
  ['a broken attribute', '#iree_gpu.target<arch = "sm_80", wgp = <'],
])('%s is no GPU', (_, text) => {
  expect(readGpuTarget(Buffer.from(text))).toBeNull();
});
