// Priors in files.
import { describe, expect, test } from 'vitest';
import type { SpaceOptions } from '../../src/backend/backend.ts';
import { FEATURES } from '../../src/backend/llvm-cpu/features.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { predict } from '../../src/search/forest.ts';
import { spaceWithPrior } from '../../src/tuning/prior.ts';
import { WIDE } from '../support/backend.ts';
import { matmul } from '../support/workloads.ts';

const DEVICE = 'AMD EPYC (26/2/1) local-sync threads=1 caches=48/1024/32768K';

const SHAPE = matmul(500, 500, 500);

/** The space on a CPU with AVX-512, or another one. */
const spaceOf = (work = SHAPE, change: Partial<SpaceOptions> = {}, device = DEVICE) =>
  spaceWithPrior(llvmCpu, work, { ...WIDE, ...change }, device);

describe('the space of a matmul', () => {
  test('has the prior of its backend, for any registers and element types', () => {
    const spaces = [
      spaceOf(),
      spaceOf(SHAPE, { nativeVectorBytes: 32, vectorRegisters: 16 }),
      spaceOf(matmul(500, 500, 500, ['bf16', 'bf16', 'f32'])),
    ];
    for (const { guide, starts } of spaces) {
      const features = guide!.featuresAt(starts[0]!)!;
      expect(features).toHaveLength(FEATURES.length);
      expect(Math.abs(predict(guide!.forest, features))).toBeLessThan(4);
    }
  });

  test('knows processors by family and model, each with its measured element types', () => {
    const isKnown = (device: string, type = 'f32') =>
      spaceOf(matmul(500, 500, 500, [type, type, 'f32']), {}, device).guide?.isMeasured;
    expect(isKnown(DEVICE)).toBe(true);
    expect(isKnown(DEVICE, 'bf16')).toBe(true);
    expect(isKnown(DEVICE, 'f64')).toBe(false);
    expect(
      isKnown(DEVICE.replace('AMD EPYC', 'AMD EPYC 9B45 128-Core Processor').replace('/1)', '/7)')),
    ).toBe(true);
    expect(isKnown(DEVICE.replace('26/2', '25/97'))).toBe(false);
    expect(isKnown('Apple M4 local-task threads=4')).toBe(false);
  });

  test('has no prior if the user restricts it', () => {
    expect(spaceOf(SHAPE, { only: { peeling: [0] } }).guide).toBeUndefined();
  });

  test('has no prior with other features than this version', () => {
    const other = { ...llvmCpu.tuning(SHAPE), features: () => [1, 2, 3] };
    const backend = { ...llvmCpu, tuning: () => other };
    expect(spaceWithPrior(backend, SHAPE, WIDE, DEVICE).guide).toBeUndefined();
  });
});
