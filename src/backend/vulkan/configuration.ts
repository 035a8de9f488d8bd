// The knobs of IREE's SPIR-V pipelines. The number of threads is no knob, because it follows from the tiles. The compiler accepts a wrong
// number silently.

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

/** The fields of all kinds. */
export type Field = Exclude<
  keyof SpirvTileConfiguration | keyof PromotedConfiguration | keyof CooperativeConfiguration,
  'version' | 'kind'
>;
