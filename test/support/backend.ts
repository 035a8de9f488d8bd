// llvm-cpu in tests: options of its space, tiles, and attributes of candidates.
import type { SpaceOptions } from '../../src/backend/backend.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import type { Release } from '../../src/compiler/release.ts';
import { candidateOf } from '../../src/measure/candidate-module.ts';
import type { OperationWork } from '../../src/workload/workload.ts';

/** Options for a small CPU with one thread, without data tiling. */
export const SPACE: SpaceOptions = {
  nativeVectorBytes: 16,
  vectorRegisters: 32,
  threads: 1,
  wholeProgram: false,
  following: false,
};

/** Options for a CPU with AVX-512 and one thread, without data tiling. */
export const WIDE: SpaceOptions = { ...SPACE, nativeVectorBytes: 64 };

export const tiles = (
  distribution: readonly number[],
  vectorCommonParallel: readonly number[],
  vectorReduction: readonly number[],
  peeling = false,
): TileConfiguration => ({
  ...{ version: 1, kind: 'tile', distribution, vectorCommonParallel, vectorReduction, peeling },
});

export const MATMUL_TILES = tiles([8, 16, 0], [4, 16, 0], [0, 0, 1]);

/** Tiles for matmuls. They differ from every default. */
export const ODD_TILES = tiles([48, 32, 0], [4, 16, 0], [0, 0, 2], true);

/** Tiles for a strided pointwise convolution from 32 channels to 4x4x48. They differ from every default. */
export const STRIDED_TILES = tiles([4, 2, 48, 0], [1, 2, 16, 0], [0, 0, 0, 2]);

/** The attribute of a configuration, for an operation whose loops have the order of the workload's dimensions. */
export const attributeOf = (configuration: Configuration, workload: OperationWork, release: Release) =>
  candidateOf('any', configuration, workload, release).attribute;
