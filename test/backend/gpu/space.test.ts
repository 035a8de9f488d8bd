import { beforeAll, describe, expect, test } from 'vitest';
import { cuda } from '../../../src/backend/cuda/index.ts';
import type { GpuConfiguration } from '../../../src/backend/gpu/configuration.ts';
import { illegality } from '../../../src/backend/gpu/legality.ts';
import { loadBackends } from '../../../src/backend/index.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { matmul, withSizes } from '../../support/workloads.ts';
import { drawn, startsOf } from '../drawn.ts';
import { SHAPES } from './shapes.ts';
import { gpuOptions, problemOf } from './targets.ts';

beforeAll(loadBackends);

describe.each(['sm_89', 'gfx942', 'gfx1100'])('for %s', (gpu) => {
  const backend = gpu.startsWith('sm_') ? cuda : rocm;
  test.each(Object.entries(SHAPES))(
    '%s: every configuration is legal, and leads back to its point',
    (_, workload) => {
      const options = gpuOptions(gpu);
      const space = backend.tuning(workload).space(options);
      const problem = problemOf(workload, gpu);
      const found = drawn(space, workload.dimensions.length) as GpuConfiguration[];
      expect(space.starts.length).toBeGreaterThan(1);
      expect(found.length).toBeGreaterThan(space.starts.length);
      for (const configuration of found) expect(illegality(problem, configuration)).toBeNull();
    },
  );
});

test('the best tiles of an H100 are among the starts', () => {
  const f32 = cuda.tuning(matmul(512, 512, 512)).space(gpuOptions('sm_80'));
  expect(startsOf(f32, 'simt-tile')).toContainEqual(
    expect.objectContaining({ workgroup: [64, 64, 0], thread: [8, 4, 0], reduction: [0, 0, 16] }),
  );
  const f16 = cuda.tuning(matmul(2048, 2048, 2048, ['f16', 'f16', 'f32'])).space(gpuOptions('sm_80'));
  expect(startsOf(f16, 'mma-tile')).toContainEqual(
    expect.objectContaining({ workgroup: [128, 128, 0], subgroup: [4, 8, 0], reduction: [0, 0, 4] }),
  );
});

test('dynamic sizes and targets without a description have an empty space', () => {
  const { knobs, starts } = cuda.tuning(matmul(512, 512, 512)).space({ ...gpuOptions('sm_80'), gpu: '' });
  expect([knobs, starts]).toEqual([[], []]);
  const dynamic = cuda.tuning(withSizes(matmul(512, 512, 512), 1, 512));
  expect([dynamic.families({ wholeProgram: false }), dynamic.unsupported]).toEqual([[], 'dynamic sizes']);
});
