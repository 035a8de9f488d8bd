// The knobs of IREE's GPU pipelines for CUDA and HIP. The number of threads is no knob, because it follows from the tiles. The compiler
// accepts a wrong number silently.
import { isBoolean } from '../../system/data.ts';
import type { Workload } from '../../workload/workload.ts';
import {
  isLevel,
  isWithin,
  type ConfigurationsOf,
  type KnobColumns,
  type Schema,
  type SchemaField,
} from '../schema.ts';
import { readMma } from './target.ts';

/** Most threads in a workgroup of any GPU. */
const MOST_THREADS = 1024;

const isMma = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 64 && readMma(value) !== null;

/** Every level has one entry for each dimension of the workload; 0 means "not tiled at this level". */
const FIELDS = {
  /** Name of the instruction. It becomes MLIR text. */
  mma: { check: isMma, label: 'mma' },
  subgroupSize: { check: isWithin(1, MOST_THREADS), label: 'sg' },
  /** Elements of one workgroup; 0 along reduction dimensions. */
  workgroup: { check: isLevel, label: 'wg' },
  /** Tile of one subgroup: instructions along the rows and columns of an instruction, elements along other dimensions. */
  subgroup: { check: isLevel, label: 'subgroup' },
  /** Subgroups of a workgroup along each dimension. */
  subgroups: { check: isLevel, label: 'subgroups' },
  /** Elements of one thread. */
  thread: { check: isLevel, label: 'thread' },
  /** Threads of a subgroup along each dimension; the product is the size of the subgroup. */
  lanes: { check: isLevel, label: 'lanes' },
  /**
   * Steps of a workgroup along k, or along the keys of an attention, in elements; with matrix instructions, in
   * instructions along the innermost k.
   */
  reduction: { check: isLevel, label: 'red' },
  /** Operands go through shared memory. */
  promoted: { check: isBoolean, label: 'promoted' },
  /** Operands are padded to whole tiles. */
  padded: { check: isBoolean, label: 'padded' },
  /**
   * The convolution is a matrix product of its patches. All reduction dimensions become one; the tile stands at the last dimension of
   * the workload.
   */
  igemm: { check: isBoolean, label: 'igemm' },
  /** Rows in shared memory get padding, so that fewer rows begin in the same bank. */
  bankPadding: { check: isBoolean, label: 'bank-padding' },
  /** Prefetch stages of loads; absent on CUDA, where stages have no effect. */
  prefetch: { check: isWithin(0, 16), label: 'prefetch' },
  /** Least number of wavefronts for each SIMD unit; absent for the compiler's choice, and on CUDA. */
  wavesPerEu: { check: isWithin(0, 16), label: 'waves' },
} satisfies Readonly<Record<string, SchemaField>>;

const COMMON = ['subgroupSize', 'workgroup', 'reduction'] as const;
const FUSED = [...COMMON, 'padded', 'igemm'] as const;

const KINDS = {
  /** `VectorDistribute` for a whole attention with matrix instructions. The compiler chooses the instructions. */
  'attention-tile': { required: [...COMMON, 'subgroups'] },
  /** `TileAndFuse` with matrix instructions: operands of a workgroup go through shared memory. */
  'mma-tile': {
    required: [...FUSED, 'mma', 'subgroup', 'subgroups', 'bankPadding'],
    optional: ['prefetch', 'wavesPerEu'],
  },
  /** `VectorDistribute`: several threads share one sum, for products with a vector. */
  'shared-sum': { required: [...COMMON, 'thread', 'lanes', 'subgroups'] },
  /** `TileAndFuse` without matrix instructions: each thread computes a tile. */
  'simt-tile': { required: [...FUSED, 'thread', 'promoted'] },
} as const;

type Own = ConfigurationsOf<typeof KINDS, typeof FIELDS>;

export type AttentionConfiguration = Own['attention-tile'];
export type MmaTileConfiguration = Own['mma-tile'];
export type SharedSumConfiguration = Own['shared-sum'];
export type SimtTileConfiguration = Own['simt-tile'];

export type GpuConfiguration = MmaTileConfiguration | SimtTileConfiguration | SharedSumConfiguration;

/** The product of all values but 0. */
export const product = (values: readonly number[]) => values.reduce((all, value) => all * (value || 1), 1);

/** Threads of a workgroup. */
export const threadsOf = (c: GpuConfiguration | AttentionConfiguration): number =>
  c.kind === 'simt-tile' ? product(c.workgroup) / product(c.thread) : product(c.subgroups) * c.subgroupSize;

/** Whether a workgroup has whole tiles of its threads, as `threadsOf` expects. */
export function isConsistent(c: GpuConfiguration | AttentionConfiguration): boolean {
  const {
    subgroup,
    subgroups,
    thread,
    lanes,
  }: Partial<Record<'subgroup' | 'subgroups' | 'thread' | 'lanes', readonly number[]>> = c;
  const inner = c.workgroup.map((_, d) =>
    product([subgroup, subgroups, thread, lanes].map((tiles) => tiles?.[d] ?? 1)),
  );
  const isWhole = (tiles: readonly number[]) => tiles.every((tile, d) => tile % inner[d]! === 0);
  if (!isWhole(c.workgroup)) return false;
  switch (c.kind) {
    case 'attention-tile':
      return true;
    case 'mma-tile': {
      const { m, n } = readMma(c.mma)!;
      return product(c.workgroup) === product(c.subgroup) * product(c.subgroups) * m * n;
    }
    case 'simt-tile':
      return c.workgroup.every((tile, d) => (tile === 0) === (c.thread[d] === 0));
    case 'shared-sum':
      return product(c.lanes) === c.subgroupSize && isWhole(c.reduction);
  }
}

/** Elements along k of one step of `reduction`: the k of an instruction, or 1. */
export const stepOf = (c: GpuConfiguration): number => (c.kind === 'mma-tile' ? (readMma(c.mma)?.k ?? 1) : 1);

export const SCHEMA: Schema = {
  kinds: KINDS,
  fields: FIELDS,
  isConsistent(configuration) {
    const own = configuration as GpuConfiguration | AttentionConfiguration;
    return isConsistent(own) && threadsOf(own) <= MOST_THREADS;
  },
  columns(workload, configuration) {
    const c = configuration as GpuConfiguration | AttentionConfiguration;
    const { workgroup } = c;
    const threads = threadsOf(c);
    if (c.kind === 'attention-tile')
      return { ...tileColumns(workload, c.reduction, { workgroup, subgroups: c.subgroups }), threads };
    return {
      // Elements of one thread; with matrix instructions, instructions of one subgroup.
      ...tileColumns(workload, c.reduction, {
        workgroup,
        tile: c.kind === 'mma-tile' ? c.subgroup : c.thread,
      }),
      threads,
      matrix: c.kind === 'mma-tile',
      padded: c.kind !== 'shared-sum' && c.padded,
    };
  },
};

/** Columns for each dimension of a workload, by kind and number: steps of reductions, and the tiles of each level. */
export const tileColumns = (
  { dimensions }: Workload,
  reduction: readonly number[],
  levels: Readonly<Record<string, readonly number[]>>,
): KnobColumns =>
  Object.fromEntries(
    dimensions.flatMap(({ kind }, d) =>
      kind === 'k'
        ? [[`summed_${kind}${d}`, reduction[d]!]]
        : Object.entries(levels).map(([level, tiles]) => [`${level}_${kind}${d}`, tiles[d]!]),
    ),
  );
