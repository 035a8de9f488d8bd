// The space of convolutions: tiles leave no remainder, for all sizes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pointOf } from '../../../src/search/space.ts';
import { isConfiguration } from '../../../src/backend/index.ts';
import type { WindowTileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { compilationInfo } from '../../../src/backend/rendered.ts';
import { rendered } from '../../../src/backend/llvm-cpu/render.ts';
import { windowSpace } from '../../../src/backend/llvm-cpu/window-space.ts';
import { randomPoint, seededRandom } from '../../../src/search/strategy.ts';
import { convolution } from '../../support/workloads.ts';
import { startsOf } from '../drawn.ts';

const options = { nativeVectorBytes: 32, vectorRegisters: 16, threads: 2, wholeProgram: true };
const size = fc.integer({ min: 1, max: 300 });

test('every configuration leaves no remainder, and can be stored and read', () => {
  fc.assert(
    fc.property(size, size, size, fc.boolean(), fc.integer(), (image, outputs, inputs, isDepthwise, seed) => {
      const workload = convolution(image, outputs, isDepthwise ? null : inputs);
      const space = windowSpace(workload, options);
      const random = seededRandom(seed);
      expect(space.starts.length).toBeGreaterThan(0);
      for (const point of [
        ...space.starts,
        ...Array.from({ length: 20 }, () => randomPoint(space, random)),
      ]) {
        const configuration = space.configurationAt(point) as WindowTileConfiguration | null;
        if (configuration === null) continue;
        expect(pointOf(space, configuration)).toEqual(point);
        expect(isConfiguration(JSON.parse(JSON.stringify(configuration)), workload.dimensions.length)).toBe(
          true,
        );
        const { distribution, vectorCommonParallel, vectorReduction } = configuration;
        for (const [d, { kind, size }] of workload.dimensions.entries()) {
          if (kind === 'k') expect([distribution[d], vectorCommonParallel[d]]).toEqual([0, 0]);
          else expect(vectorReduction[d]).toBe(0);
          const [outer, inner] =
            kind === 'k' ? [size, vectorReduction[d]!] : [distribution[d]!, vectorCommonParallel[d]!];
          expect([size % outer, outer % inner]).toEqual([0, 0]);
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('all threads get work if possible', () => {
  const workload = convolution(35, 96, 96);
  const space = windowSpace(workload, { ...options, threads: 16 });
  for (const { distribution } of startsOf(space, 'window-tile')) {
    const workgroups = workload.dimensions.reduce(
      (count, { size, kind }, d) => (kind === 'k' ? count : count * (size / distribution[d]!)),
      1,
    );
    expect(workgroups).toBeGreaterThanOrEqual(16);
  }
});

test.each([
  [56, 64, 16, [4, 16]],
  // More registers have room for seven rows of two vectors.
  [56, 64, 32, [7, 16]],
  // Two rows would be too few products for the units of a core.
  [14, 64, 16, [2, 32]],
  // Three vectors are slow.
  [80, 24, 16, [10, 8]],
])(
  'the first register tile of %i columns and %i filters has room for its operands in %i registers',
  (columns, filters, vectorRegisters, expected) => {
    const space = windowSpace(convolution(columns, filters, 64), { ...options, vectorRegisters });
    const [{ vectorCommonParallel }] = startsOf(space, 'window-tile') as [WindowTileConfiguration];
    expect(vectorCommonParallel.slice(2, 4)).toEqual(expected);
  },
);

test('the directive names the pipeline, and the batch dimension comes first', () => {
  const space = windowSpace(convolution(35, 96, 96), options);
  const [first] = startsOf(space, 'window-tile');
  expect(compilationInfo(rendered(first!, [0, 1, 2, 3, 4, 5, 6], [3, 13, 0])).value).toBe(
    '#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [1, 1, 35, 96, 0, 0, 0], ' +
      'vector_common_parallel = [1, 1, 5, 16, 0, 0, 0], vector_reduction = [0, 0, 0, 0, 1, 1, 8]>, ' +
      'translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<ConvTileAndDecomposeExpert>>>',
  );
});
