// The knobs of llvm-cpu: in configurations, for users and in tables; and the tiles of a configuration by level and dimension.
import { hasKeys, isBoolean, isObject } from '../../system/data.ts';
import type { Dimension } from '../../workload/contraction/contraction.ts';
import { isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { DimensionKind } from '../../workload/sizes.ts';
import type { UserKnob } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import {
  isLevel,
  type ConfigurationsOf,
  type KnobColumns,
  type Schema,
  type SchemaField,
} from '../schema.ts';

/** The compiler's packed form of an operation: a fact about the compiler, not a choice. */
export interface PackedForm {
  /** Elements of one packed tile along the rows of the first and of the second operand, and along k. */
  readonly inner: readonly [first: number, second: number, depth: number];
  /** The first packed operand is the rhs: the compiler swaps the sides if that uses vectors better. */
  readonly swapped: boolean;
}

/** Tiles of a packed operation, counted in packed tiles of its form. The compiler decides about an absent level. */
export interface PackedTiles extends PackedForm {
  /** The multiplication of one workgroup, along the first and the second operand. */
  readonly distribution?: readonly [first: number, second: number];
  /** The packing of one workgroup, along the rows of either operand and along k. */
  readonly packing?: readonly [rows: number, depth: number];
}

const isPackedLevel = (value: unknown, count: number): boolean =>
  isLevel(value, count) && (value as number[]).every((tile) => tile > 0);

/** Only workloads of one m, one n and one k have packed tiles. */
const arePackedTiles = (value: unknown, rank = 3): value is PackedTiles =>
  rank === 3 &&
  isObject(value) &&
  hasKeys(value, ['inner', 'swapped'], ['distribution', 'packing']) &&
  isPackedLevel(value['inner'], 3) &&
  isBoolean(value['swapped']) &&
  ['distribution', 'packing'].every((level) => !(level in value) || isPackedLevel(value[level], 2));

/** A configuration itself has none of the fields of packed tiles. */
const inPacked = (): boolean => false;

/** Every level has one entry for each dimension of the workload, in that order; 0 means "not tiled at this level". */
const FIELDS = {
  /** Tiles of the packed operation and of the packing; without them the compiler decides. */
  packed: { check: arePackedTiles },
  inner: { check: inPacked, label: 'inner' },
  swapped: { check: inPacked, label: 'swapped' },
  /** Tile of one workgroup; 0 along reduction dimensions. */
  distribution: { check: isLevel, label: 'dist' },
  cacheParallel: { check: isLevel, label: 'cp' },
  cacheReduction: { check: isLevel, label: 'cr' },
  vectorCommonParallel: { check: isLevel, label: 'vcp' },
  vectorReduction: { check: isLevel, label: 'vr' },
  vectorInnerParallel: { check: isLevel, label: 'vip' },
  /** Tile in registers. */
  vector: { check: isLevel, label: 'vector' },
  /** Peel the remainder loops instead of masking or scalarising them. */
  peeling: { check: isBoolean, label: 'peel' },
  packing: { check: inPacked, label: 'pack' },
} satisfies Readonly<Record<string, SchemaField>>;

const REQUIRED_LEVELS = ['distribution', 'vectorCommonParallel', 'vectorReduction'] as const;

const KINDS = {
  /** Pack the operands into the compiler's data-tiled layout (`linalg.mmt4d`). */
  'data-tile': { required: [], optional: ['packed'] },
  /** Tiles for a whole dispatch. All operations with a loop along a dimension get its tile. */
  'dispatch-tile': { required: ['distribution', 'vector'] },
  /** Tiles for the `DoubleTilingExpert` pipeline. The lowering configuration has no entry for an absent level. */
  tile: {
    required: [...REQUIRED_LEVELS, 'peeling'],
    optional: ['cacheParallel', 'cacheReduction', 'vectorInnerParallel'],
  },
  /** Tiles for the `ConvTileAndDecomposeExpert` pipeline for convolutions. */
  'window-tile': { required: REQUIRED_LEVELS },
} as const;

type Own = ConfigurationsOf<typeof KINDS, typeof FIELDS>;

export type TileConfiguration = Own['tile'];
export type DataTileConfiguration = Own['data-tile'];
export type WindowTileConfiguration = Own['window-tile'];
export type DispatchTileConfiguration = Own['dispatch-tile'];

export type LlvmCpuConfiguration = Own[keyof Own];

export const DATA_TILE_CONFIGURATION: DataTileConfiguration = { version: 1, kind: 'data-tile' };

export type LevelName = 'distribution' | 'cache' | 'vector' | 'inner';

type Levels = Omit<TileConfiguration, 'version' | 'kind' | 'peeling'>;

/** The fields of each level: along parallel dimensions, then along reductions. */
const FIELDS_OF: Readonly<Record<LevelName, readonly (keyof Levels)[]>> = {
  distribution: ['distribution'],
  cache: ['cacheParallel', 'cacheReduction'],
  vector: ['vectorCommonParallel', 'vectorReduction'],
  inner: ['vectorInnerParallel'],
};

/** The tile of one level along one dimension; 0 for none. */
export const tileOf = (c: Levels, level: LevelName, dimension: number): number =>
  FIELDS_OF[level].reduce((tile, field) => tile || (c[field]?.[dimension] ?? 0), 0);

/** The configuration with these tiles. An optional field without tiles is absent. */
export function withTiles(
  dimensions: readonly Dimension[],
  peeling: boolean,
  tileAt: (level: LevelName, dimension: number) => number,
): TileConfiguration {
  const along = (level: LevelName, isReduced: boolean) =>
    dimensions.map(({ kind }, d) => ((kind === 'k') === isReduced ? tileAt(level, d) : 0));
  const used = (tiles: number[]) => (tiles.some((tile) => tile > 0) ? tiles : undefined);
  const cacheParallel = used(along('cache', false));
  const cacheReduction = used(along('cache', true));
  const vectorInnerParallel = used(along('inner', false));
  return {
    version: 1,
    kind: 'tile',
    distribution: along('distribution', false),
    ...(cacheParallel && { cacheParallel }),
    ...(cacheReduction && { cacheReduction }),
    vectorCommonParallel: along('vector', false),
    vectorReduction: along('vector', true),
    ...(vectorInnerParallel && { vectorInnerParallel }),
    peeling,
  };
}

/** The tile levels that users restrict, along dimensions of some kinds. */
const LEVELS: readonly {
  readonly level: Exclude<LevelName, 'inner'>;
  readonly kinds: readonly DimensionKind[];
  readonly least: number;
}[] = [
  { level: 'distribution', kinds: ['batch', 'm', 'n'], least: 1 },
  { level: 'cache', kinds: ['m', 'n', 'k'], least: 0 },
  { level: 'vector', kinds: ['batch', 'm', 'n', 'k'], least: 1 },
];

export const USER_KNOBS: readonly UserKnob[] = [
  ...LEVELS.flatMap(({ level, kinds, least }) =>
    kinds.map((kind): UserKnob => ({ name: `${level}_${kind}`, type: 'tile', least })),
  ),
  { name: 'inner', type: 'tile', least: 0 },
  { name: 'peeling', type: 'boolean', least: 0 },
  { name: 'data_tiling', type: 'boolean', least: 0 },
];

/** The knobs of a configuration; names have numbers if a kind has several dimensions. */
function operationColumns({ dimensions }: OperationWork, configuration: Configuration): KnobColumns {
  const isTiled = configuration.kind === 'tile' || configuration.kind === 'window-tile';
  const tile = isTiled ? configuration : null;
  const packed = configuration.kind === 'data-tile' ? configuration.packed : undefined;
  const columns: Record<string, number | boolean | null> = {};
  for (const { level, kinds } of LEVELS)
    for (const kind of kinds) {
      const own = dimensions.flatMap((one, d) => (one.kind === kind ? [d] : []));
      for (const [i, d] of own.entries())
        columns[`${level}_${kind}${own.length > 1 ? i : ''}`] = tile && tileOf(tile, level, d);
    }
  columns['inner'] = tile && Math.max(0, ...dimensions.map((_, d) => tileOf(tile, 'inner', d)));
  columns['peeling'] = configuration.kind === 'tile' ? configuration.peeling : null;
  columns['data_tiling'] = tile === null;
  columns['packed_first'] = packed?.distribution?.[0] ?? null;
  columns['packed_second'] = packed?.distribution?.[1] ?? null;
  columns['packing_rows'] = packed?.packing?.[0] ?? null;
  columns['packing_depth'] = packed?.packing?.[1] ?? null;
  return columns;
}

/** The tiles of a configuration, by name. */
const dispatchColumns = ({ dimensions }: Workload, configuration: Configuration): KnobColumns =>
  Object.fromEntries(
    (['distribution', 'vector'] as const).flatMap((level) =>
      dimensions.map(({ kind }, d) => [
        `${level}_${kind}${d}`,
        configuration.kind === 'dispatch-tile' ? configuration[level][d]! : null,
      ]),
    ),
  );

export const SCHEMA: Schema = {
  kinds: KINDS,
  fields: FIELDS,
  columns: (workload, configuration) =>
    isOperationWork(workload)
      ? operationColumns(workload, configuration)
      : dispatchColumns(workload, configuration),
};
