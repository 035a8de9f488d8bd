// Priors in files.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { predict } from '../../src/search/forest.ts';
import { packageRoot } from '../../src/system/package-root.ts';
import { priorName, spaceWithPrior } from '../../src/tuning/prior.ts';
import { matmul } from '../support/workloads.ts';

const OPTIONS = {
  ...{ nativeVectorBytes: 64, vectorRegisters: 32, threads: 1 },
  ...{ wholeProgram: false, following: false },
};

describe('the space of a matmul', () => {
  test('has the prior of its registers and element types', () => {
    expect(priorName(llvmCpu, matmul(4, 5, 6), OPTIONS)).toBe('llvm-cpu-64x32-f32.json');
    expect(readdirSync(join(packageRoot, 'db/priors'))).toContain('llvm-cpu-64x32-f32.json');
    const { guide, starts } = spaceWithPrior(llvmCpu, matmul(500, 500, 500), OPTIONS);
    const features = guide!.featuresAt(starts[0]!)!;
    expect(Math.abs(predict(guide!.forest, features))).toBeLessThan(4);
  });

  test('has none for other registers, and where a user restricts it', () => {
    const without = [
      { ...OPTIONS, nativeVectorBytes: 1024 },
      { ...OPTIONS, only: { peeling: [0] } },
    ];
    for (const options of without)
      expect(spaceWithPrior(llvmCpu, matmul(500, 500, 500), options).guide).toBeUndefined();
  });

  test('has none that asks about other numbers than this version knows', () => {
    const other = { ...llvmCpu, featuresOf: () => [1, 2, 3] };
    expect(spaceWithPrior(other, matmul(500, 500, 500), OPTIONS).guide).toBeUndefined();
  });
});
