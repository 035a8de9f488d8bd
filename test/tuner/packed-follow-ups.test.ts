import { expect, test } from 'vitest';
import {
  DATA_TILE_CONFIGURATION,
  DEFAULT_CONFIGURATION,
  type Configuration,
} from '../../src/space/configuration.ts';
import type { Trial } from '../../src/store/store.ts';
import { packedFollowUps } from '../../src/tuner/packed-follow-ups.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul, workload } from '../support/workloads.ts';

const trial = (configuration: Configuration, seconds: number): Trial => ({
  configuration,
  outcome: 'measured',
  seconds,
  ratio: 1,
  message: null,
  strategy: 'test',
});
const shape = matmul(256, 256, 64);

test('tiles of packed operations are tried where data tiling is among the best, and only there', async () => {
  const tools = await toolchain(temporaryDirectory());
  const after = (dataTiled: number) =>
    packedFollowUps(tools, shape, [
      trial(DEFAULT_CONFIGURATION, 1),
      trial(DATA_TILE_CONFIGURATION, dataTiled),
    ]);
  const tried = await after(1.2);
  expect(tried.length).toBeGreaterThan(0);
  expect(tried.every(({ packed }) => packed !== undefined)).toBe(true);
  expect(await after(1.4)).toEqual([]);
  expect(await packedFollowUps(tools, shape, [trial(DEFAULT_CONFIGURATION, 1)])).toEqual([]);
});

test('nothing is tried where the compiler packs in another way', async () => {
  const tools = await toolchain(temporaryDirectory());
  const batched = workload({ batch: 2, m: 64, n: 64, k: 64 });
  expect(await packedFollowUps(tools, batched, [trial(DATA_TILE_CONFIGURATION, 1)])).toEqual([]);
});
