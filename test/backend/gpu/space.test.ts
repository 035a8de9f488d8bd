import { describe, expect, test } from 'vitest';
import { cuda } from '../../../src/backend/cuda/index.ts';
import type { GpuConfiguration } from '../../../src/backend/gpu/configuration.ts';
import { readDevice } from '../../../src/backend/gpu/device.ts';
import { FEATURES } from '../../../src/backend/gpu/features.ts';
import { illegality } from '../../../src/backend/gpu/legality.ts';
import { isOfSchema } from '../../../src/backend/schema.ts';
import { SCHEMA } from '../../../src/backend/gpu/schema.ts';
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
  expect(cuda.familiesOf({ ...matmul(512, 512, 512), ...dynamic }, { wholeProgram: false })).toEqual([]);
});

const DEVICES = `# ===---===
# --device=cuda://GPU-0011
#   NVIDIA A100-SXM4-40GB
# ===---===

- gpu-compute-capability: 8.0
- gpu-arch-name: sm_80
- gpu-warp-size: 32

# ===---===
# --device=cuda://GPU-2233
#   NVIDIA L4
# ===---===
- gpu-arch-name: sm_89
- gpu-warp-size: 32
`;

test('a device is the first of the list, or has a number or a name', () => {
  expect(readDevice(DEVICES, 'cuda')).toEqual({
    ...{ model: 'NVIDIA A100-SXM4-40GB', driver: 'cuda', threads: 1, cachesKiB: [] },
    gpu: { version: 'sm_80', subgroup: 32, isSoftware: false },
  });
  expect(readDevice(DEVICES, 'cuda://1')?.model).toBe('NVIDIA L4');
  expect(readDevice(DEVICES, 'cuda://GPU-2233')?.model).toBe('NVIDIA L4');
  expect(readDevice(DEVICES, 'cuda://2')).toBeNull();
});

const target = (backend: string, cpu: string) => ({
  ...{ backend, triple: '', cpu, features: [], nativeVectorBytes: 0, flags: [] },
});

test('PTX runs on later GPUs, machine code on its own', async () => {
  const none = () => Promise.resolve(null);
  const [a100, l4] = [readDevice(DEVICES, 'cuda')!, readDevice(DEVICES, 'cuda://1')!];
  expect(await cuda.whyNotRunnable(target('cuda', 'sm_80'), l4, none)).toBeNull();
  expect(await cuda.whyNotRunnable(target('cuda', 'sm_89'), a100, none)).toContain('sm_80');
  const amd = { ...a100, model: 'MI300X', gpu: { version: 'gfx942', subgroup: 64, isSoftware: false } };
  expect(await rocm.whyNotRunnable(target('rocm', 'gfx942'), amd, none)).toBeNull();
  expect(await rocm.whyNotRunnable(target('rocm', 'gfx950'), amd, none)).toContain('gfx942');
});
