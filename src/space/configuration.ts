// A configuration is abstract knobs, stored as versioned JSON and rendered to MLIR per compiler version, never stored as MLIR.

/** Leave the operation to the compiler's own defaults. */
export interface DefaultConfiguration {
  readonly version: 1;
  readonly kind: 'default';
}

/**
 * Tile sizes for llvm-cpu's `DoubleTilingExpert` pipeline. Every array has one entry per `Workload.dimensions`, in
 * that order; 0 means "not tiled at this level". An absent level is left out of the lowering configuration.
 */
export interface TileConfiguration {
  readonly version: 1;
  readonly kind: 'tile';
  /** Tile of one workgroup; reduction dimensions are always 0. */
  readonly distribution: readonly number[];
  readonly cacheParallel?: readonly number[];
  readonly cacheReduction?: readonly number[];
  readonly vectorCommonParallel: readonly number[];
  readonly vectorReduction: readonly number[];
  readonly vectorInnerParallel?: readonly number[];
  /** Peel the remainder loops instead of masking or scalarising them. */
  readonly peeling: boolean;
}

/** Pack the operands into the compiler's data-tiled layout (`linalg.mmt4d`). */
export interface DataTileConfiguration {
  readonly version: 1;
  readonly kind: 'data-tile';
}

export type Configuration = DefaultConfiguration | TileConfiguration | DataTileConfiguration;

export const DEFAULT_CONFIGURATION: DefaultConfiguration = { version: 1, kind: 'default' };
export const DATA_TILE_CONFIGURATION: DataTileConfiguration = { version: 1, kind: 'data-tile' };

/** Stable text of a configuration: equal configurations give equal text. */
export function configurationKey(configuration: Configuration): string {
  switch (configuration.kind) {
    case 'default':
    case 'data-tile':
      return configuration.kind;
    case 'tile': {
      const level = (name: string, tiles: readonly number[] | undefined) =>
        tiles === undefined ? '' : ` ${name}=${tiles.join(',')}`;
      return (
        'tile' +
        level('dist', configuration.distribution) +
        level('cp', configuration.cacheParallel) +
        level('cr', configuration.cacheReduction) +
        level('vcp', configuration.vectorCommonParallel) +
        level('vr', configuration.vectorReduction) +
        level('vip', configuration.vectorInnerParallel) +
        (configuration.peeling ? ' peel' : '')
      );
    }
  }
}
