import { describe, expect, test } from 'vitest';
import type { KnobValues } from '../../../src/backend/backend.ts';
import { cuda } from '../../../src/backend/cuda/index.ts';
import type { Configuration } from '../../../src/backend/configuration.ts';
import { pointOf } from '../../../src/search/space.ts';
import { isConfiguration, loadBackends } from '../../../src/backend/index.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { vulkan } from '../../../src/backend/vulkan/index.ts';
import { gridSearch } from '../../../src/search/grid.ts';
import { seededRandom } from '../../../src/search/strategy.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { LLVMPIPE } from '../../support/vulkan-target.ts';
import { matmul, workload } from '../../support/workloads.ts';
import { gpuOptions } from './targets.ts';

const optionsOf = (name: string, only: KnobValues) => ({ ...gpuOptions(name), only });

const F16 = matmul(512, 512, 512, ['f16', 'f16', 'f32']);

/** All configurations of a target's restricted space. */
function allOf(name: string, work: OperationWork, only: KnobValues) {
  const backend = name === 'llvmpipe' ? vulkan : name.startsWith('sm_') ? cuda : rocm;
  const space = backend.tuning(work).space({
    ...optionsOf(name, only),
    ...(name === 'llvmpipe' && { ...LLVMPIPE, only }),
  });
  const points = gridSearch(space, seededRandom(1)).propose(100);
  for (const point of points) expect(pointOf(space, space.configurationAt(point)!)).toEqual(point);
  return points.map((point) => space.configurationAt(point)!);
}

const EXACT = { workgroup_m: [64], workgroup_n: [128], summed_k: [32], threads_m: [2], threads_n: [64] };

describe('tiles and threads of a user', () => {
  test('are subgroups with matrix instructions', () => {
    expect(allOf('sm_80', F16, EXACT)).toEqual([
      expect.objectContaining({
        ...{ kind: 'mma-tile', mma: 'NV_MMA_SYNC_F32_16x8x16_F16', workgroup: [64, 128, 0] },
        ...{ subgroups: [2, 2, 0], subgroup: [2, 8, 0], reduction: [0, 0, 2], padded: false },
      }),
    ]);
  });
  test('are threads without matrix instructions', () => {
    const common = { kind: 'simt-tile', workgroup: [64, 128, 0], thread: [32, 2, 0], reduction: [0, 0, 32] };
    expect(allOf('sm_80', matmul(512, 512, 512), EXACT)).toEqual(
      [false, true].map((promoted) => expect.objectContaining({ ...common, promoted }) as Configuration),
    );
  });
  test('are threads on Vulkan', () => {
    expect(allOf('llvmpipe', matmul(512, 512, 512), { ...EXACT, threads_m: [16], summed_k: [8] })).toEqual([
      { version: 1, kind: 'spirv-tile', workgroup: [64, 128, 0], thread: [4, 2, 0], reduction: [0, 0, 8] },
    ]);
  });
  test('pad operands where tiles leave a remainder', () => {
    expect(allOf('sm_80', matmul(500, 500, 500), EXACT)).toContainEqual(
      expect.objectContaining({ workgroup: [64, 128, 0], padded: true }),
    );
  });
  test('are stages of loads on HIP', () => {
    const found = allOf('gfx942', F16, { workgroup_m: [64], workgroup_n: [128], prefetch: [2] });
    expect(found.length).toBeGreaterThan(10);
    for (const one of found) expect(one).toMatchObject({ prefetch: 2 });
  });
});

test.each([
  ['sm_80', F16, { workgroup_m: [64] }],
  ['gfx1100', matmul(512, 512, 512), { threads_n: [64] }],
  ['llvmpipe', workload({ batch: 4, m: 60, n: 48, k: 20 }), { workgroup_m: [20] }],
] as const)('on %s free knobs have values, and every configuration is valid', async (name, work, only) => {
  await loadBackends();
  const found = allOf(name, work, only);
  expect(found.length).toBeGreaterThan(20);
  for (const one of found) expect(isConfiguration(one, work.dimensions.length)).toBe(true);
});

test('an illegal value names its rule', () => {
  const illegal = (only: KnobValues) =>
    rocm.tuning(F16).illegalValues!(optionsOf('gfx942', only)).map(
      ({ knob, value, rule }) => `${knob}=${value}: ${rule}`,
    );
  expect(illegal({ workgroup_m: [64, 1024], prefetch: [1, 2] })).toEqual([
    expect.stringMatching(/^workgroup_m=1024: /),
    expect.stringMatching(/^prefetch=1: prefetch is none of /),
  ]);
  expect(illegal({ ...EXACT, threads_n: [64, 100] })).toEqual([
    'threads_n=100: threads are no whole subgroups',
  ]);
});

test('too many threads are named as such', () => {
  const [rule] = cuda.tuning(matmul(512, 512, 512)).illegalValues!(
    optionsOf('sm_80', { ...EXACT, threads_m: [32], threads_n: [64], workgroup_m: [64], workgroup_n: [128] }),
  );
  expect(rule).toMatchObject({ rule: 'too many threads' });
});

test('convolutions and dynamic sizes have no such knobs', () => {
  const convolution = { ...F16, windows: [[0, 2]] } as unknown as OperationWork;
  expect(cuda.tuning(F16)).toHaveProperty('illegalValues');
  expect(cuda.tuning(convolution)).not.toHaveProperty('illegalValues');
});
