// The knobs of IREE's SPIR-V pipelines. Numbers of threads follow from tiles: the compiler accepts wrong ones silently.

/** No tile is larger: what a database says beyond that is no configuration. */
export const LARGEST_TILE = 2 ** 20;

/** Arrays have one entry for each dimension of the workload; 0 means "not tiled at this level". */
interface Tiles {
  readonly version: 1;
  /** Elements of one workgroup; 0 along reduction dimensions. */
  readonly workgroup: readonly number[];
  /** Elements summed at once; 0 along parallel dimensions. */
  readonly reduction: readonly number[];
}

/** Tiles for `BaseVectorize`: each thread computes a tile of the result in registers. */
export interface SpirvTileConfiguration extends Tiles {
  readonly kind: 'spirv-tile';
  /** Elements of one thread; 0 along reduction dimensions. */
  readonly thread: readonly number[];
  /**
   * What a thread computes at once where a filter is moved over an image: 1 along the image's rows, 0 elsewhere. Absent where
   * nothing is moved.
   */
  readonly window?: readonly number[];
}

/** Tiles for `MatmulPromoteVectorize`: operands go through shared memory, in stages that overlap. */
export interface SpirvPromoteConfiguration extends Tiles {
  readonly kind: 'spirv-promote';
  /** Threads of a workgroup along each parallel dimension. */
  readonly threads: readonly number[];
  /** Stages of loads that are under way, 1 or 2. */
  readonly depth: number;
  /** Stage in which loads are stored to shared memory, 0 or 1. */
  readonly storeStage: number;
}

/** Tiles for `CooperativeMatrixVectorize`: subgroups multiply matrices of a size that the target offers. */
export interface SpirvMatrixConfiguration extends Tiles {
  readonly kind: 'spirv-matrix';
  /** Elements of one subgroup; 0 along reduction dimensions. */
  readonly subgroup: readonly number[];
  /** Elements of one matrix along every dimension. */
  readonly matrix: readonly number[];
  /** Threads of a subgroup. */
  readonly subgroupSize: number;
  readonly storeStage: number;
}

export type VulkanConfiguration =
  SpirvTileConfiguration | SpirvPromoteConfiguration | SpirvMatrixConfiguration;

export const KINDS: readonly VulkanConfiguration['kind'][] = ['spirv-matrix', 'spirv-promote', 'spirv-tile'];

type Key = keyof SpirvTileConfiguration | keyof SpirvPromoteConfiguration | keyof SpirvMatrixConfiguration;

/** Keys of the JSON that a configuration is stored as, in their order: equal configurations give equal text. */
export const JSON_KEYS: readonly string[] = Object.keys({
  version: true,
  kind: true,
  workgroup: true,
  subgroup: true,
  thread: true,
  threads: true,
  reduction: true,
  window: true,
  matrix: true,
  subgroupSize: true,
  depth: true,
  storeStage: true,
} satisfies Readonly<Record<Key, true>>);

const level = (name: string, tiles: readonly number[]) => ` ${name}=${tiles.join(',')}`;

/** A short text for people: equal configurations give equal text. */
export function keyOf(configuration: VulkanConfiguration): string {
  const { kind, workgroup, reduction } = configuration;
  const outer = kind + level('wg', workgroup);
  const summed = level('k', reduction);
  switch (kind) {
    case 'spirv-tile': {
      const { thread, window } = configuration;
      return outer + level('thread', thread) + summed + (window === undefined ? '' : level('window', window));
    }
    case 'spirv-promote': {
      const { threads, depth, storeStage } = configuration;
      return `${outer}${level('threads', threads)}${summed} depth=${depth} stage=${storeStage}`;
    }
    case 'spirv-matrix': {
      const { subgroup, matrix, subgroupSize, storeStage } = configuration;
      const inner = level('subgroup', subgroup) + summed + level('matrix', matrix);
      return `${outer}${inner} size=${subgroupSize} stage=${storeStage}`;
    }
  }
}
