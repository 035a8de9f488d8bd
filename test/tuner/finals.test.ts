import { expect, test } from 'vitest';
import { DATA_TILE_CONFIGURATION, type TileConfiguration } from '../../src/space/configuration.ts';
import { runFinals } from '../../src/tuner/finals.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';

const LONG = matmul(32, 64, 4096, ['bf16', 'bf16', 'bf16']);

/** Sums one product after the other in bf16, which does not get beyond 1024 in such steps. */
const worse: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [16, 32, 0],
  vectorCommonParallel: [4, 16, 0],
  vectorReduction: [0, 0, 1],
  peeling: false,
};

test('narrow accumulators: another order of summation is verified, a worse one refused', async () => {
  const tools = await toolchain(temporaryDirectory());
  const expected = { defaultSeconds: 0.01, seconds: [0.01, 0.01] };
  const finals = await runFinals(tools, LONG, [DATA_TILE_CONFIGURATION, worse], expected, () => false);
  expect(finals!.finalists.map(({ configuration }) => configuration)).toEqual([DATA_TILE_CONFIGURATION]);
  expect(finals!.wrong.map(({ configuration }) => configuration)).toEqual([worse]);
  expect(finals!.wrong[0]!.reason).toMatch(/^element \d+ is 1024 instead of \d+$/);
});
