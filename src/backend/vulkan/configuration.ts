// The knobs of IREE's SPIR-V pipelines. The number of threads is no knob, because it follows from the tiles. The compiler accepts a wrong
// number silently.
import { tileColumns } from '../gpu/configuration.ts';
import { isLevel, isWithin, type Schema, type SchemaField } from '../schema.ts';

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
  readonly subgroupSize: number;
}

export type VulkanConfiguration = SpirvTileConfiguration | PromotedConfiguration | CooperativeConfiguration;

type Field = Exclude<
  keyof SpirvTileConfiguration | keyof PromotedConfiguration | keyof CooperativeConfiguration,
  'version' | 'kind'
>;

/** Threads along each parallel dimension; 0 along reduction dimensions. */
export function threadsOf(c: VulkanConfiguration): readonly number[] {
  const lane = c.workgroup.findLastIndex((tile) => tile > 0);
  return c.workgroup.map((tile, d) =>
    tile === 0
      ? 0
      : (tile / c.thread[d]!) * (c.kind === 'spirv-cooperative' && d === lane ? c.subgroupSize : 1),
  );
}

const COMMON = ['workgroup', 'thread', 'reduction'];
const SHARED = [...COMMON, 'depth', 'storeStage'];

export const SCHEMA: Schema = {
  kinds: {
    'spirv-cooperative': { required: [...SHARED, 'native', 'subgroupSize'] },
    'spirv-promoted': { required: SHARED },
    'spirv-tile': { required: COMMON, optional: ['window'] },
  },
  fields: {
    workgroup: { check: isLevel, label: 'wg' },
    thread: { check: isLevel, label: 'thread' },
    reduction: { check: isLevel, label: 'k' },
    window: { check: isLevel, label: 'window' },
    native: { check: isLevel, label: 'native' },
    subgroupSize: { check: isWithin(1, 128), label: 'sg' },
    depth: { check: isWithin(0, 8), label: 'depth' },
    storeStage: { check: isWithin(0, 1), label: 'stage' },
  } satisfies Readonly<Record<Field, SchemaField>>,
  columns(workload, configuration) {
    const c = configuration as VulkanConfiguration;
    const { workgroup, thread, reduction } = c;
    const isShared = c.kind !== 'spirv-tile';
    return {
      ...tileColumns(workload, reduction, { workgroup, threads: threadsOf(c), tile: thread }),
      pipeline_depth: isShared ? c.depth : null,
      store_stage: isShared ? c.storeStage : null,
      matrix: c.kind === 'spirv-cooperative',
    };
  },
};
