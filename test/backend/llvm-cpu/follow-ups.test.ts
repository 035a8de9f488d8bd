import { expect, test } from 'vitest';
import { DATA_TILE_CONFIGURATION } from '../../../src/backend/llvm-cpu/configuration.ts';
import { DEFAULT_CONFIGURATION, type Configuration } from '../../../src/backend/configuration.ts';
import type { Measured } from '../../../src/backend/backend.ts';
import { packedFollowUps } from '../../../src/backend/llvm-cpu/packed.ts';
import { textAfter } from '../../../src/measure/build.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { toolchain } from '../../support/real-tools.ts';
import { matmul, workload } from '../../support/workloads.ts';

const followUps = async (workload: OperationWork, ...measured: [Configuration, seconds: number][]) => {
  const tools = await toolchain(temporaryDirectory());
  return packedFollowUps(
    workload,
    measured.map(([configuration, seconds]): Measured => ({ configuration, seconds })),
    { threads: 1, following: true },
    (configuration, phase) => textAfter(tools, workload, configuration, phase),
  );
};
const shape = matmul(256, 256, 64);

test('tiles of packed operations are tried only if data tiling is among the best', async () => {
  const after = (dataTiled: number) =>
    followUps(shape, [DEFAULT_CONFIGURATION, 1], [DATA_TILE_CONFIGURATION, dataTiled]);
  const tried = await after(1.2);
  expect(tried.length).toBeGreaterThan(0);
  expect(tried.every(({ packed }) => packed !== undefined)).toBe(true);
  expect(await after(1.5)).toEqual([]);
  expect(await followUps(shape, [DEFAULT_CONFIGURATION, 1])).toEqual([]);
});

test('nothing is tried if the compiler packs in another way', async () => {
  const batched = workload({ batch: 2, m: 64, n: 64, k: 64 });
  expect(await followUps(batched, [DATA_TILE_CONFIGURATION, 1])).toEqual([]);
});
