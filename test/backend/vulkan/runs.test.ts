// Points of the space, drawn at random, compile and give right results on a Vulkan device.
import { describe, expect, test } from 'vitest';
import { readGpuTarget } from '../../../src/backend/gpu/target.ts';
import type { Configuration } from '../../../src/backend/configuration.ts';
import { tileSpace } from '../../../src/backend/vulkan/tile-space.ts';
import { failuresAlone } from '../../../src/measure/alone.ts';
import { buildCandidates } from '../../../src/measure/build.ts';
import { candidateOf, stockCandidate } from '../../../src/measure/candidate-module.ts';
import { configurationKey } from '../../../src/backend/index.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { isFull, isWithout } from '../../support/needs.ts';
import { LLVMPIPE, vulkanToolchain, whyNoVulkan } from '../../support/vulkan.ts';
import { matmul, workload } from '../../support/workloads.ts';

const SHAPES: readonly (readonly [string, OperationWork])[] = [
  ['a matmul', matmul(64, 96, 48)],
  ['odd sizes', matmul(45, 51, 35)],
  ['one row', matmul(1, 128, 64)],
  ['a batch', workload({ batch: 3, m: 32, n: 48, k: 20 })],
  ['f16', matmul(32, 64, 48, ['f16', 'f16', 'f32'])],
  ['integers', matmul(32, 64, 48, ['i8', 'i8', 'i32'])],
];

describe.skipIf(isWithout(whyNoVulkan()))('every point that is drawn compiles and runs right', () => {
  test.each(SHAPES)('%s', async (_, shape) => {
    const tools = await vulkanToolchain(temporaryDirectory());
    const space = tileSpace(shape, readGpuTarget(Buffer.from(LLVMPIPE.gpu!))!);
    const random = seededRandom(isFull ? 2 : 1);
    const wanted = isFull ? 84 : 5;
    const drawn = new Map<string, Configuration>();
    while (drawn.size < wanted) {
      const one = space.configurationAt(randomPoint(space, random));
      if (one !== null) drawn.set(configurationKey(one), one);
    }
    const candidates = [...drawn.values()].map((one, i) => candidateOf(`c${i}`, one, shape, tools.release));
    const build = await buildCandidates(tools, shape, [stockCandidate('stock'), ...candidates], 'drawn');
    expect(build.refused).toEqual(new Map());
    const names = ['stock', ...candidates.map(({ name }) => name)];
    expect(await failuresAlone(tools, shape, build.module!, names)).toEqual(new Map());
  });
});
