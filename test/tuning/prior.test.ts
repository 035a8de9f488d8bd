// Priors in files.
import { describe, expect, test } from 'vitest';
import { FEATURES } from '../../src/backend/llvm-cpu/features.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { predict } from '../../src/search/forest.ts';
import { spaceWithPrior } from '../../src/tuning/prior.ts';
import { matmul } from '../support/workloads.ts';

const OPTIONS = {
  ...{ nativeVectorBytes: 64, vectorRegisters: 32, threads: 1 },
  ...{ wholeProgram: false, following: false },
};

const DEVICE = 'AMD EPYC (26/2/1) local-sync threads=1 caches=48/1024/32768K';

describe('the space of a matmul', () => {
  test('has the prior of its backend, for any registers and element types', () => {
    const spaces = [
      spaceWithPrior(llvmCpu, matmul(500, 500, 500), OPTIONS, DEVICE),
      spaceWithPrior(
        llvmCpu,
        matmul(500, 500, 500),
        {
          ...OPTIONS,
          nativeVectorBytes: 32,
          vectorRegisters: 16,
        },
        DEVICE,
      ),
      spaceWithPrior(llvmCpu, matmul(500, 500, 500, ['bf16', 'bf16', 'f32']), OPTIONS, DEVICE),
    ];
    for (const { guide, starts } of spaces) {
      const features = guide!.featuresAt(starts[0]!)!;
      expect(features).toHaveLength(FEATURES.length);
      expect(Math.abs(predict(guide!.forest, features))).toBeLessThan(4);
    }
  });

  test('knows processors by family and model, each with its measured element types', () => {
    const isKnown = (device: string, type = 'f32') =>
      spaceWithPrior(llvmCpu, matmul(500, 500, 500, [type, type, 'f32']), OPTIONS, device).guide?.isMeasured;
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
    const options = { ...OPTIONS, only: { peeling: [0] } };
    expect(spaceWithPrior(llvmCpu, matmul(500, 500, 500), options, DEVICE).guide).toBeUndefined();
  });

  test('has no prior with other features than this version', () => {
    const shape = matmul(500, 500, 500);
    const other = { ...llvmCpu.tuning(shape), features: () => [1, 2, 3] };
    const backend = { ...llvmCpu, tuning: () => other };
    expect(spaceWithPrior(backend, shape, OPTIONS, DEVICE).guide).toBeUndefined();
  });
});
