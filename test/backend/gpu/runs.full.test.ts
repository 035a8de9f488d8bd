// Random configurations of the spaces compile, and compute the right result on the devices of this machine.
import { describe, expect, test } from 'vitest';
import type { Configuration, OwnConfiguration } from '../../../src/backend/configuration.ts';
import type { Device } from '../../../src/backend/device.ts';
import { loadBackend } from '../../../src/backend/index.ts';
import { checkedAlone, referenceAlone } from '../../../src/measure/verify-candidates.ts';
import { loadedWith } from '../../../src/measure/common-modules.ts';
import { buildCandidates } from '../../../src/measure/build.ts';
import { candidateOf, stockCandidate } from '../../../src/measure/candidate-module.ts';
import type { SearchSpace } from '../../../src/search/space.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import { probeTargets } from '../../../src/site/probe.ts';
import { readGpuTarget } from '../../../src/backend/gpu/target.ts';
import { promotedSpace } from '../../../src/backend/vulkan/shared-space.ts';
import { hostCpu } from '../../../src/system/processor.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { convolution2d, convolutionWorkloads, type ConvolutionText } from '../../support/convolutions.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { isWithout } from '../../support/needs.ts';
import { compiler, runtimeTool, toolchain } from '../../support/real-tools.ts';
import { LLVMPIPE } from '../../support/vulkan-target.ts';
import { LLVMPIPE_FLAGS, whyNoVulkan } from '../../support/vulkan.ts';
import { matmul, workload } from '../../support/workloads.ts';
import { startsAndRandom } from '../compile-all.ts';
import { TARGET_FLAGS } from './candidates.ts';

/** An image of 14 x 14 with 8 channels, filtered to 16. */
const SMALL = { image: 14, channels: 8, filters: 16 };

/** `npm test` has the first one. */
const CONVOLUTIONS: readonly (readonly [string, ConvolutionText])[] = [
  ['rows of 16', convolution2d('nchw', { image: 16, channels: 8, filters: 12 })],
  ['one image with a bias', convolution2d('nhwc', SMALL, { user: 'bias' })],
  ['one image in a padded result', convolution2d('nhwc', SMALL, { user: 'pad' })],
  ['a convolution with the channels innermost', convolution2d('nhwc', { ...SMALL, images: 2 })],
  [
    'a convolution with the channels first, rows of 18',
    convolution2d('nchw', { ...SMALL, images: 2, image: 18 }),
  ],
  ['one image with the channels first and a transpose', convolution2d('nchw', SMALL, { user: 'transpose' })],
  ['odd sizes with the channels first', convolution2d('nchw', { image: 17, channels: 7, filters: 21 })],
  ['steps of two', convolution2d('nchw', { ...SMALL, image: [17, 18] }, { stride: 2 })],
  ['steps of three', convolution2d('nchw', { ...SMALL, image: [24, 26] }, { stride: 3 })],
  [
    'a filter of one row and f16',
    convolution2d(
      'nchw',
      { images: 2, image: [12, 18], channels: 8, filter: [1, 3], filters: 16 },
      { types: ['f16', 'f32'] },
    ),
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

/** `npm test` has the first two. */
const SHAPES: readonly (readonly [string, OperationWork])[] = [
  ['odd sizes', matmul(45, 51, 35)],
  ['integers', matmul(32, 64, 48, ['i8', 'i8', 'i32'])],
  ['a batch', workload({ batch: 3, m: 32, n: 48, k: 20 })],
  ['a matmul', matmul(64, 96, 48)],
  ['one row', matmul(1, 128, 64)],
  ['f16', matmul(32, 64, 48, ['f16', 'f16', 'f32'])],
];

interface Place {
  readonly flags: readonly string[];
  readonly device: Device;
  readonly spaceOf: (workload: OperationWork) => SearchSpace<Configuration>;
}

/** The first device of a driver, or the reason that there is none. */
async function placeOf(
  name: string,
  driver: string,
  flagsFor: (chip: string) => readonly string[],
): Promise<Place | string> {
  const backend = (await loadBackend(name))!;
  const cacheDirectory = temporaryDirectory();
  const device = await backend.devices.describe(driver, {
    ...{ runModule: () => runtimeTool('iree-run-module'), cacheDirectory, env: process.env },
    root: '',
  });
  if (typeof device === 'string') return device;
  const flags = flagsFor(device.gpu!.architecture ?? '');
  const { targets } = await probeTargets(compiler.executable, flags, [], hostCpu(), cacheDirectory);
  const { target } = targets[0]!;
  const options = { ...backend.devices.hardwareOf(target, device), wholeProgram: false, following: false };
  return { flags, device, spaceOf: (workload) => backend.tuning(workload).space(options) };
}

const [cuda, hip] = await Promise.all([
  // PTX of sm_80 runs on all later GPUs.
  placeOf('cuda', 'cuda', () => TARGET_FLAGS['sm_80']!),
  placeOf('rocm', 'hip', (chip) => ['--iree-hal-target-device=hip', `--iree-rocm-target=${chip}`]),
]);
const noVulkan = whyNoVulkan();
const vulkan = isWithout(noVulkan)
  ? noVulkan!
  : await placeOf('vulkan-spirv', 'vulkan', () => LLVMPIPE_FLAGS);

const places: readonly (readonly [string, Place | string])[] = [
  ['Vulkan', vulkan],
  // Most machines have no GPU, which is no reason to report skipped tests.
  ...(
    [
      ['CUDA', cuda],
      ['HIP', hip],
    ] as const
  ).filter(([, place]) => typeof place !== 'string'),
];

describe.each(places)('every configuration that is drawn compiles and runs right on %s', (name, place) => {
  const isAbsent = typeof place === 'string';
  test.skipIf(isAbsent).each(SHAPES)('%s', (_name, shape) => draw(shape));
  test.skipIf(isAbsent).each(CONVOLUTIONS)('%s', (_name, text) =>
    draw(convolutionWorkloads((place as Place).flags, [text])[0]!),
  );
  // GPUs with matrix instructions have this space. llvmpipe can run the code, too.
  test.skipIf(isAbsent || name !== 'Vulkan').each(
    SHAPES.flatMap(([shape, own]) => {
      const space = promotedSpace(own, readGpuTarget(Buffer.from(LLVMPIPE.gpu!))!);
      return space === null ? [] : [[shape, own, space] as const];
    }),
  )('%s through shared memory', (_name, shape, space) => draw(shape, space));

  async function draw(shape: OperationWork, own?: SearchSpace<Configuration>): Promise<void> {
    const { flags, device, spaceOf } = place as Place;
    const tools = { ...(await toolchain(temporaryDirectory())), flags, device };
    const space = (own ?? spaceOf(shape)) as SearchSpace<OwnConfiguration>;
    // llvmpipe translates all kernels of a module in each process.
    const drawn = startsAndRandom(space, 84, seededRandom(2));
    const candidates = drawn.map((one, i) => candidateOf(`c${i}`, one, shape, tools.release));
    const build = await buildCandidates(tools, shape, [stockCandidate('stock'), ...candidates], 'drawn');
    expect(build.refused).toEqual(new Map());
    const names = candidates.map(({ name }) => name);
    const modules = (await loadedWith(tools, shape, build.module!))!;
    const reference = (await referenceAlone(tools, shape, modules, 'stock'))!;
    const right = new Map(names.map((name) => [name, expect.objectContaining({ outcome: 'right' })]));
    expect(await checkedAlone(tools, shape, modules, names, reference)).toEqual(right);
  }
});
