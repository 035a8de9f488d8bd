// The knobs of IREE's SPIR-V pipelines. The number of threads is no knob, because it follows from the tiles. The compiler accepts a wrong
// number silently.
import { tileColumns } from '../gpu/configuration.ts';
import { isLevel, isWithin, type ConfigurationsOf, type Schema, type SchemaField } from '../schema.ts';

/** Every level has one entry for each dimension of the workload; 0 means "not tiled at this level". */
const FIELDS = {
  /** Elements of one workgroup; 0 along reduction dimensions. */
  workgroup: { check: isLevel, label: 'wg' },
  /** Elements of one thread, or of one subgroup with matrix instructions; 0 along reduction dimensions. */
  thread: { check: isLevel, label: 'thread' },
  /** Steps along reduction dimensions, in elements; 0 along parallel dimensions. */
  reduction: { check: isLevel, label: 'k' },
  /** Innermost tile of a thread in a convolution: 1 along the image's rows, 0 elsewhere. Absent for other workloads. */
  window: { check: isLevel, label: 'window' },
  /** Elements of one instruction along rows, columns and the reduction. */
  native: { check: isLevel, label: 'native' },
  subgroupSize: { check: isWithin(1, 128), label: 'sg' },
  /** Steps that are loaded ahead. */
  depth: { check: isWithin(0, 8), label: 'depth' },
  /** The stage of the pipelined loop that writes shared memory. */
  storeStage: { check: isWithin(0, 1), label: 'stage' },
} satisfies Readonly<Record<string, SchemaField>>;

const COMMON = ['workgroup', 'thread', 'reduction'] as const;
/** Operands go through shared memory, in several buffers. */
const SHARED = [...COMMON, 'depth', 'storeStage'] as const;

const KINDS = {
  /** Tiles for `CooperativeMatrixVectorize`: subgroups multiply with matrix instructions. */
  'spirv-cooperative': { required: [...SHARED, 'native', 'subgroupSize'] },
  /** Tiles for `MatmulPromoteVectorize`. */
  'spirv-promoted': { required: SHARED },
  /** Tiles for `BaseVectorize`: each thread computes a tile of the result in registers. */
  'spirv-tile': { required: COMMON, optional: ['window'] },
} as const;

type Own = ConfigurationsOf<typeof KINDS, typeof FIELDS>;

export type SpirvTileConfiguration = Own['spirv-tile'];
export type PromotedConfiguration = Own['spirv-promoted'];
export type CooperativeConfiguration = Own['spirv-cooperative'];

export type VulkanConfiguration = Own[keyof Own];

/** Threads along each parallel dimension; 0 along reduction dimensions. */
export function threadsOf(c: VulkanConfiguration): readonly number[] {
  const lane = c.workgroup.findLastIndex((tile) => tile > 0);
  return c.workgroup.map((tile, d) =>
    tile === 0
      ? 0
      : (tile / c.thread[d]!) * (c.kind === 'spirv-cooperative' && d === lane ? c.subgroupSize : 1),
  );
}

export const SCHEMA: Schema = {
  kinds: KINDS,
  fields: FIELDS,
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
