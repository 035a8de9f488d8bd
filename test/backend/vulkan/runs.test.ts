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
import { convolutionWorkloads, type ConvolutionText } from '../../support/convolutions.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { isFull, isWithout } from '../../support/needs.ts';
import { LLVMPIPE, LLVMPIPE_FLAGS, vulkanToolchain, whyNoVulkan } from '../../support/vulkan.ts';
import { matmul, workload } from '../../support/workloads.ts';

const CONVOLUTIONS: readonly (readonly [string, ConvolutionText])[] = [
  [
    'a convolution with the channels innermost',
    { name: 'conv_2d_nhwc_hwcf', image: [2, 14, 14, 8], filter: [3, 3, 8, 16], result: [2, 12, 12, 16] },
  ],
  [
    'a convolution with the channels first, rows of 18',
    { name: 'conv_2d_nchw_fchw', image: [2, 8, 18, 18], filter: [16, 8, 3, 3], result: [2, 16, 16, 16] },
  ],
  [
    'rows of 16',
    { name: 'conv_2d_nchw_fchw', image: [1, 8, 16, 16], filter: [12, 8, 3, 3], result: [1, 12, 14, 14] },
  ],
  [
    'odd sizes with the channels first',
    { name: 'conv_2d_nchw_fchw', image: [1, 7, 17, 17], filter: [21, 7, 3, 3], result: [1, 21, 15, 15] },
  ],
  [
    'steps of two',
    {
      name: 'conv_2d_nchw_fchw',
      image: [1, 8, 17, 18],
      filter: [16, 8, 3, 3],
      result: [1, 16, 8, 8],
      stride: 2,
    },
  ],
  [
    'steps of three',
    {
      name: 'conv_2d_nchw_fchw',
      image: [1, 8, 24, 26],
      filter: [16, 8, 3, 3],
      result: [1, 16, 8, 8],
      stride: 3,
    },
  ],
  [
    'a filter of one row and f16',
    {
      name: 'conv_2d_nchw_fchw',
      image: [2, 8, 12, 18],
      filter: [16, 8, 1, 3],
      result: [2, 16, 12, 16],
      types: ['f16', 'f32'],
    },
  ],
  [
    'a depthwise convolution with the channels innermost',
    {
      name: 'depthwise_conv_2d_nhwc_hwc',
      image: [1, 16, 16, 24],
      filter: [3, 3, 24],
      result: [1, 14, 14, 24],
    },
  ],
];

const SHAPES: readonly (readonly [string, OperationWork])[] = [
  ['a matmul', matmul(64, 96, 48)],
  ['odd sizes', matmul(45, 51, 35)],
  ['one row', matmul(1, 128, 64)],
  ['a batch', workload({ batch: 3, m: 32, n: 48, k: 20 })],
  ['f16', matmul(32, 64, 48, ['f16', 'f16', 'f32'])],
  ['integers', matmul(32, 64, 48, ['i8', 'i8', 'i32'])],
];

describe.skipIf(isWithout(whyNoVulkan()))('every point that is drawn compiles and runs right', () => {
  test.each(SHAPES)('%s', (_, shape) => draw(shape));
  test.each(CONVOLUTIONS.slice(0, isFull ? undefined : 4))('%s', (_, text) =>
    draw(convolutionWorkloads(LLVMPIPE_FLAGS, [text])[0]!),
  );

  async function draw(shape: OperationWork): Promise<void> {
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
  }
});
