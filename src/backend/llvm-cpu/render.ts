// Configurations as MLIR attributes. The syntax differs between releases of the compiler.
import { isBefore, type Release } from '../../compiler/release.ts';
import type { Directive } from '../backend.ts';
import { compilationInfo, type Rendered } from '../rendered.ts';
import type {
  LlvmCpuConfiguration,
  PackedTiles,
  TileConfiguration,
  WindowTileConfiguration,
} from './configuration.ts';
import { DATA_TILING_HINT } from './data-tiling.ts';

type Tiles = TileConfiguration | WindowTileConfiguration;

/** @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over */
export function rendered(c: Tiles, loops: readonly number[], release: Release): Rendered {
  const name = c.kind === 'tile' ? 'DoubleTilingExpert' : 'ConvTileAndDecomposeExpert';
  // 3.12 turned the pipeline from an enum case into an attribute; each spelling is a parse error in the other.
  const pipeline = isBefore(release, 3, 12) ? `CPU${name}` : `#iree_cpu.pipeline<${name}>`;
  const peeling = c.kind === 'tile' && c.peeling ? ', {enable_loop_peeling}' : '';
  return {
    lowering: loweringConfig(c, loops),
    translation: `#iree_codegen.translation_info<pipeline = ${pipeline}${peeling}>`,
  };
}

/**
 * The attribute of one operation; null for a configuration of several operations.
 * @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over
 */
export function directive(
  configuration: LlvmCpuConfiguration,
  loops: readonly number[],
  release: Release,
): Directive | null {
  switch (configuration.kind) {
    case 'tile':
    case 'window-tile':
      return compilationInfo(rendered(configuration, loops, release));
    case 'data-tile':
      return { attribute: DATA_TILING_HINT, value: 'unit' };
    case 'dispatch-tile':
      return null;
  }
}

/** The lowering configuration alone, in the compiler's spelling. */
export function loweringConfig(c: Tiles, loops: readonly number[]): string {
  const own: Partial<TileConfiguration> = c.kind === 'tile' ? c : {};
  const levels: (readonly [string, readonly number[] | undefined])[] = [
    ['cache_parallel', own.cacheParallel],
    ['cache_reduction', own.cacheReduction],
    ['distribution', c.distribution],
    ['vector_common_parallel', c.vectorCommonParallel],
    ['vector_inner_parallel', own.vectorInnerParallel],
    ['vector_reduction', c.vectorReduction],
  ];
  const rendered = levels.flatMap(([name, tiles]) =>
    tiles === undefined ? [] : [`${name} = [${loops.map((d) => tiles[d]!).join(', ')}]`],
  );
  return `#iree_cpu.lowering_config<${rendered.join(', ')}>`;
}

/** Packed tiles along k that one step moves: the compiler's own value for most operands. */
const PACKED_AT_ONCE = 16;

/**
 * The multiplication of a packed operation, and the packing of its operands, in the spelling of IREE 3.12 and newer. The compiler decides
 * about the tiles of an absent part.
 */
export function packedParts({ inner: [first, second, depth], distribution, packing }: PackedTiles): {
  readonly multiply?: Rendered;
  readonly pack?: Rendered;
} {
  const part = (lowering: string, pipeline: string): Rendered => ({
    lowering: `#iree_cpu.lowering_config<${lowering}>`,
    translation: `#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<${pipeline}>>`,
  });
  return {
    ...(distribution && {
      multiply: part(
        `distribution = [${distribution.join(', ')}, 0, 0, 0, 0], ` +
          `vector_common_parallel = [1, 1, 0, ${first}, ${second}, 0], vector_reduction = [0, 0, 1, 0, 0, ${depth}]`,
        'Mmt4dTilingExpert',
      ),
    }),
    ...(packing && {
      pack: part(
        `distribution = [${packing.join(', ')}], vector_common_parallel = [1, ${PACKED_AT_ONCE}]`,
        'DataTiling',
      ),
    }),
  };
}
