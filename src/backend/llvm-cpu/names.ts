// Names of llvm-cpu's configurations in profilers.
import type { Workload } from '../../workload/workload.ts';
import type { ConfigurationNames } from '../backend.ts';
import type { LlvmCpuConfiguration } from './configuration.ts';
import { tileOf, type LevelName } from './tile-knobs.ts';

/** Tiles along m, n and k: products over all dimensions of a kind; 0 for no dimension. */
export function namesOf(workload: Workload, configuration: LlvmCpuConfiguration): ConfigurationNames {
  if (configuration.kind === 'data-tile') {
    const { packed } = configuration;
    const inner = packed?.inner.join('x');
    return {
      tiles: packed?.distribution?.join('x') ?? 'packed',
      vectors: inner ?? 'packed',
      core: 'simd',
      instruction: 'mmt4d',
    };
  }
  if (configuration.kind === 'dispatch-tile')
    return {
      tiles: configuration.distribution.join('x'),
      vectors: configuration.vector.join('x'),
      core: 'simd',
      instruction: configuration.kind,
    };
  const along = (kind: 'm' | 'n' | 'k', level: LevelName) =>
    workload.dimensions.reduce(
      (product, dimension, d) =>
        dimension.kind === kind ? product * tileOf(configuration, level, d) : product,
      1,
    );
  const tiles = [along('m', 'distribution'), along('n', 'distribution'), along('k', 'cache')];
  const vectors = [along('m', 'vector'), along('n', 'vector'), along('k', 'vector')];
  return {
    tiles: tiles.join('x'),
    vectors: vectors.join('x'),
    core: 'simd',
    instruction: configuration.kind,
  };
}
