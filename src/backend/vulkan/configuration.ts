// The knobs of IREE's SPIR-V pipelines. The number of threads is no knob, because it follows from the tiles. The compiler accepts a wrong
// number silently.

/** The largest tile of a valid configuration. */
export const LARGEST_TILE = 2 ** 20;

/** Knobs of all pipelines. Arrays have one entry for each dimension of the workload; 0 means "not tiled at this level". */
interface Tiles {
  readonly version: 1;
  /** Elements of one workgroup; 0 along reduction dimensions. */
  readonly workgroup: readonly number[];
  /** Elements of one thread, or of one subgroup with matrix instructions; 0 along reduction dimensions. */
  readonly thread: readonly number[];
  /** Steps along reduction dimensions, in elements; 0 along parallel dimensions. */
  readonly reduction: readonly number[];
}

/** Tiles for `BaseVectorize`: each thread computes a tile of the result in registers. */
export interface SpirvTileConfiguration extends Tiles {
  readonly kind: 'spirv-tile';
  /**
   * Innermost tile of a thread in a convolution: 1 along the image's rows, 0 elsewhere. Absent for other workloads.
   */
  readonly window?: readonly number[];
}

/** Operands go through shared memory, in several buffers. */
interface SharedTiles extends Tiles {
  /** Steps that are loaded ahead. */
  readonly depth: number;
  /** The stage of the pipelined loop that writes shared memory: 0 or 1. */
  readonly storeStage: number;
}

/** Tiles for `MatmulPromoteVectorize`. */
export interface PromotedConfiguration extends SharedTiles {
  readonly kind: 'spirv-promoted';
}

/** Tiles for `CooperativeMatrixVectorize`: subgroups multiply with matrix instructions. */
export interface CooperativeConfiguration extends SharedTiles {
  readonly kind: 'spirv-cooperative';
  /** Elements of one instruction along rows, columns and the reduction. */
  readonly native: readonly number[];
  /** Threads of one subgroup. */
  readonly subgroupSize: number;
}

export type VulkanConfiguration = SpirvTileConfiguration | PromotedConfiguration | CooperativeConfiguration;

export const KINDS = [
  'spirv-cooperative',
  'spirv-promoted',
  'spirv-tile',
] as const satisfies VulkanConfiguration['kind'][];

type Key = keyof SpirvTileConfiguration | keyof PromotedConfiguration | keyof CooperativeConfiguration;

/** Keys of the stored JSON, in their order: equal configurations give equal text. */
export const JSON_KEYS: readonly string[] = Object.keys({
  ...{ version: true, kind: true, workgroup: true, thread: true, reduction: true, window: true },
  ...{ native: true, subgroupSize: true, depth: true, storeStage: true },
} satisfies Readonly<Record<Key, true>>);

const level = (name: string, tiles: readonly number[]) => ` ${name}=${tiles.join(',')}`;

/** A short text for people. Equal configurations give equal text. */
export const keyOf = (c: VulkanConfiguration): string =>
  c.kind +
  level('wg', c.workgroup) +
  level('thread', c.thread) +
  level('k', c.reduction) +
  (c.kind === 'spirv-tile'
    ? c.window === undefined
      ? ''
      : level('window', c.window)
    : ` depth=${c.depth} stage=${c.storeStage}`) +
  (c.kind === 'spirv-cooperative' ? `${level('native', c.native)} sg=${c.subgroupSize}` : '');
