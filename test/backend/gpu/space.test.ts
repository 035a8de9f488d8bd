import { describe, expect, test } from 'vitest';
import { cuda } from '../../../src/backend/cuda/index.ts';
import { SCHEMA, type GpuConfiguration } from '../../../src/backend/gpu/configuration.ts';
import { FEATURES } from '../../../src/backend/gpu/features.ts';
import { illegality } from '../../../src/backend/gpu/legality.ts';
import { isOfSchema } from '../../../src/backend/schema.ts';
import { problemOf } from '../../../src/backend/gpu/space.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import { matmul } from '../../support/workloads.ts';
import { SHAPES } from './shapes.ts';
import { gpuTarget, gpuTargetText } from './targets.ts';

const optionsOf = (name: string) => ({
  ...{ nativeVectorBytes: 0, vectorRegisters: 0, threads: 1, gpu: gpuTargetText(name) },
  ...{ wholeProgram: false, following: false },
});

describe.each(['sm_89', 'gfx942', 'gfx1100'])('for %s', (gpu) => {
  const backend = gpu.startsWith('sm_') ? cuda : rocm;
  test.each(Object.entries(SHAPES))(
    '%s: every configuration is legal, and leads back to its point',
    (_, workload) => {
      const options = optionsOf(gpu);
      const space = backend.spaceOf(workload, options);
      const problem = problemOf(workload, gpuTarget(gpu))!;
      const random = seededRandom(1);
      const points = [...space.starts, ...Array.from({ length: 200 }, () => randomPoint(space, random))];
      const found = points.flatMap((point) => (space.configurationAt(point) ?? []) as GpuConfiguration);
      expect(space.starts.length).toBeGreaterThan(1);
      expect(found.length).toBeGreaterThan(space.starts.length);
      for (const configuration of found) {
        expect(illegality(problem, configuration)).toBeNull();
        expect(isOfSchema(SCHEMA, configuration, workload.dimensions.length)).toBe(true);
        expect(space.configurationAt(space.pointOf(configuration)!)).toEqual(configuration);
        expect(backend.featuresOf(workload, configuration, options)).toHaveLength(FEATURES.length);
      }
    },
  );
});

test('the best tiles of an H100 are among the starts', () => {
  const f32 = cuda.spaceOf(matmul(512, 512, 512), optionsOf('sm_80'));
  expect(f32.starts.map((point) => f32.configurationAt(point))).toContainEqual(
    expect.objectContaining({ workgroup: [64, 64, 0], thread: [8, 4, 0], reduction: [0, 0, 16] }),
  );
  const f16 = cuda.spaceOf(matmul(2048, 2048, 2048, ['f16', 'f16', 'f32']), optionsOf('sm_80'));
  expect(f16.starts.map((point) => f16.configurationAt(point))).toContainEqual(
    expect.objectContaining({ workgroup: [128, 128, 0], subgroup: [4, 8, 0], reduction: [0, 0, 4] }),
  );
});

test('dynamic sizes and targets without a description have an empty space', () => {
  const { knobs, starts } = cuda.spaceOf(matmul(512, 512, 512), { ...optionsOf('sm_80'), gpu: '' });
  expect([knobs, starts]).toEqual([[], []]);
  const dynamic = {
    ...matmul(512, 512, 512),
    dimensions: [{ kind: 'm', size: 512, sizes: [1, 512] }],
  } as const;
  const workload = { ...matmul(512, 512, 512), ...dynamic };
  expect(cuda.familiesOf(workload, { wholeProgram: false })).toEqual([]);
  expect(cuda.unsupported(workload)).toBe('dynamic sizes');
});
