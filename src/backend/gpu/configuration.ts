// The knobs of IREE's GPU pipelines for CUDA and HIP. The number of threads is no knob, because it follows from the tiles. The compiler
// accepts a wrong number silently.
import { isBoolean } from '../../system/data.ts';
import type { Workload } from '../../workload/workload.ts';
import { isLevel, isWithin, type KnobColumns, type Schema, type SchemaField } from '../schema.ts';
import { readMma } from './target.ts';

/** Knobs of all pipelines. Every array has one entry for each dimension of the workload; 0 means "not tiled at this level". */
interface Tiles {
  readonly version: 1;
  readonly subgroupSize: number;
  /** Elements of one workgroup; 0 along reduction dimensions. */
  readonly workgroup: readonly number[];
}

/** `TileAndFuse`: promoted operands of a workgroup go through shared memory. */
interface TileAndFuse extends Tiles {
  /** Steps along k in elements; with matrix instructions, in instructions along the innermost k. */
  readonly reduction: readonly number[];
  /** Operands are padded to whole tiles. */
  readonly padded: boolean;
  /**
   * The convolution is a matrix product of its patches. All reduction dimensions become one; the tile stands at the last dimension of
   * the workload.
   */
  readonly igemm: boolean;
}

/** `TileAndFuse` with matrix instructions. */
export interface MmaTileConfiguration extends TileAndFuse {
  readonly kind: 'mma-tile';
  /** Name of the instruction. */
  readonly mma: string;
  /** Tile of one subgroup: instructions along the rows and columns of an instruction, elements along other dimensions. */
  readonly subgroup: readonly number[];
  /** Subgroups of a workgroup along each dimension. */
  readonly subgroups: readonly number[];
  /** Rows in shared memory get padding, so that fewer rows begin in the same bank. */
  readonly bankPadding: boolean;
  /** Prefetch stages of loads; absent on CUDA, where stages have no effect. */
  readonly prefetch?: number;
  /** Least number of wavefronts for each SIMD unit; absent for the compiler's choice, and on CUDA. */
  readonly wavesPerEu?: number;
}

/** `TileAndFuse` without matrix instructions: each thread computes a tile. */
export interface SimtTileConfiguration extends TileAndFuse {
  readonly kind: 'simt-tile';
  /** Elements of one thread. */
  readonly thread: readonly number[];
  /** Operands go through shared memory. */
  readonly promoted: boolean;
}

/** `VectorDistribute`: several threads share one sum, for products with a vector. */
export interface SharedSumConfiguration extends Tiles {
  readonly kind: 'shared-sum';
  /** Steps of a workgroup along k, in elements. */
  readonly reduction: readonly number[];
  /** Elements of one thread. */
  readonly thread: readonly number[];
  /** Threads of a subgroup along each dimension; the product is the size of the subgroup. */
  readonly lanes: readonly number[];
  /** Subgroups of a workgroup along each dimension. */
  readonly subgroups: readonly number[];
}

/** `VectorDistribute` for a whole attention with matrix instructions. The compiler chooses the instructions. */
export interface AttentionConfiguration extends Tiles {
  readonly kind: 'attention-tile';
  /** Steps along the keys, in elements; 0 elsewhere. */
  readonly reduction: readonly number[];
  /** Subgroups of a workgroup along each dimension. */
  readonly subgroups: readonly number[];
}

export type GpuConfiguration = MmaTileConfiguration | SimtTileConfiguration | SharedSumConfiguration;

type Levels = Pick<MmaTileConfiguration, 'subgroup' | 'subgroups'> &
  Pick<SharedSumConfiguration, 'thread' | 'lanes'>;

type Field = Exclude<
  keyof MmaTileConfiguration | keyof SimtTileConfiguration | keyof SharedSumConfiguration,
  'version' | 'kind'
>;

/** The product of all values but 0. */
export const product = (values: readonly number[]) => values.reduce((all, value) => all * (value || 1), 1);

/** Threads of a workgroup. */
export const threadsOf = (c: GpuConfiguration | AttentionConfiguration): number =>
  c.kind === 'simt-tile' ? product(c.workgroup) / product(c.thread) : product(c.subgroups) * c.subgroupSize;

/** Whether a workgroup has whole tiles of its threads, as `threadsOf` expects. */
export function isConsistent(c: GpuConfiguration | AttentionConfiguration): boolean {
  const { subgroup, subgroups, thread, lanes }: Partial<Levels> = c;
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

/** Most threads in a workgroup of any GPU. */
const MOST_THREADS = 1024;

const COMMON = ['subgroupSize', 'workgroup', 'reduction'];
const FUSED = [...COMMON, 'padded', 'igemm'];

/** The name becomes MLIR text. */
const isMma = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 64 && readMma(value) !== null;

export const SCHEMA: Schema = {
  kinds: {
    'attention-tile': { required: [...COMMON, 'subgroups'] },
    'mma-tile': {
      required: [...FUSED, 'mma', 'subgroup', 'subgroups', 'bankPadding'],
      optional: ['prefetch', 'wavesPerEu'],
    },
    'shared-sum': { required: [...COMMON, 'thread', 'lanes', 'subgroups'] },
    'simt-tile': { required: [...FUSED, 'thread', 'promoted'] },
  },
  fields: {
    mma: { check: isMma, label: 'mma' },
    subgroupSize: { check: isWithin(1, MOST_THREADS), label: 'sg' },
    workgroup: { check: isLevel, label: 'wg' },
    subgroup: { check: isLevel, label: 'subgroup' },
    subgroups: { check: isLevel, label: 'subgroups' },
    thread: { check: isLevel, label: 'thread' },
    lanes: { check: isLevel, label: 'lanes' },
    reduction: { check: isLevel, label: 'red' },
    promoted: { check: isBoolean, label: 'promoted' },
    padded: { check: isBoolean, label: 'padded' },
    igemm: { check: isBoolean, label: 'igemm' },
    bankPadding: { check: isBoolean, label: 'bank-padding' },
    prefetch: { check: isWithin(0, 16), label: 'prefetch' },
    wavesPerEu: { check: isWithin(0, 16), label: 'waves' },
  } satisfies Readonly<Record<Field, SchemaField>>,
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
