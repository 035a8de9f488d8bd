// The tiles of the DoubleTilingExpert pipeline, in six levels, as knobs: the few sizes that suit hardware and divisibility. Users
// can give other sizes, and learn which are illegal.
import type { Dimension } from '../../workload/contraction/contraction.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { IllegalValue, SpaceOptions } from '../backend.ts';
import type { Choice, NamedKnob } from '../choices.ts';
import { LARGEST_TILE } from '../schema.ts';
import { ascending, combinations } from '../../workload/sizes.ts';
import { divisors, roundUp } from '../tiles.ts';
import { tileOf, withTiles, type LevelName, type TileConfiguration } from './configuration.ts';
import { elementsPerVector, illegality } from './legality.ts';

/** A tile of one level along one dimension. */
export interface TileKnob extends NamedKnob<'tile'> {
  readonly name: string;
  readonly level: LevelName;
  readonly dimension: number;
  /** The user's name, the same for all dimensions of a kind: see `USER_KNOBS`. */
  readonly userName: string;
  /** The largest useful tile. */
  readonly most: number;
}

/** The dimension of vectors: contiguous in the result and, if possible, in the rhs. */
export function laneDimension(workload: OperationWork): number {
  return workload.accumulator.dimensions.at(-1) ?? workload.dimensions.length - 1;
}

/**
 * The dimension of the register tile's rows: the innermost parallel dimension besides the vectors'. Rows along several dimensions need
 * more accumulators than there are registers.
 */
export const rowDimension = (workload: OperationWork): number =>
  workload.accumulator.dimensions.findLast(
    (d) => d !== laneDimension(workload) && workload.dimensions[d]!.kind !== 'batch',
  ) ?? -1;

/** Rows of the result. A single row is bound by memory. */
export const rowsOf = (workload: OperationWork): number =>
  workload.dimensions[rowDimension(workload)]?.size ?? 1;

export const lanesOf = (
  { accumulator }: OperationWork,
  { nativeVectorBytes }: Pick<SpaceOptions, 'nativeVectorBytes'>,
): number => elementsPerVector(accumulator.elementType, { nativeVectorBytes });

/** The tiles of a workload in their order, with the user's values, or else the values of the space. */
export function knobsOf(
  workload: OperationWork,
  { only, ...options }: Pick<SpaceOptions, 'nativeVectorBytes' | 'only'>,
): readonly TileKnob[] {
  const lanes = lanesOf(workload, options);
  const lane = laneDimension(workload);
  const isMatvec = workload.rhs.dimensions.every((d) => workload.dimensions[d]!.kind === 'k');
  const tiles: TileKnob[] = [];
  const add = (level: LevelName, dimension: number, own: readonly number[], most: number) => {
    const { kind, size } = workload.dimensions[dimension]!;
    const userName = level === 'inner' ? level : `${level}_${kind}`;
    const values = only?.[userName] ?? own;
    const isInner = level === 'vector' || level === 'inner';
    const whole = level === 'distribution' && { whole: size };
    const name = nameOf(level, dimension, workload.dimensions[dimension]!);
    const of = (c: TileConfiguration) => tileOf(c, level, dimension);
    tiles.push({ name, userName, level, dimension, values, most, of, isInner, ...whole });
  };
  for (const [d, { kind, size }] of workload.dimensions.entries()) {
    if (kind === 'batch') {
      add('distribution', d, batchTiles(size), size);
      add('vector', d, [1], size);
    } else if (kind === 'k') {
      // Without n the vectors lie along k.
      add('vector', d, isMatvec ? laneTiles(size, lanes) : reductionTiles(size), roundUp(size, lanes));
      add('cache', d, rowsOf(workload) > 1 ? cacheTiles(size) : streamedTiles(size), size);
    } else {
      const isLane = d === lane && !isMatvec;
      add('distribution', d, workgroupTiles(size), roundUp(size, 16));
      add(
        'vector',
        d,
        isLane ? laneTiles(size, lanes) : rowTiles(size),
        isLane ? roundUp(size, lanes) : size,
      );
      add('cache', d, cacheTiles(size), size);
      // The level has no effect in this compiler, so that only a user's list has it.
      if (d === lane && only?.['inner'] !== undefined) add('inner', d, [0], size);
    }
  }
  return tiles;
}

/** The configuration of a choice, legal or not. */
export const configurationOf = (
  dimensions: readonly Dimension[],
  choice: Choice<string>,
): TileConfiguration =>
  withTiles(dimensions, choice['peeling'] === 1, (level, d) => choice[nameOf(level, d, dimensions[d]!)] ?? 0);

const nameOf = (level: LevelName, dimension: number, { kind }: Dimension): string =>
  `${level}.${kind}${dimension}`;

const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/** Rows of the register tile: small counts, and divisors, which leave no remainder. */
function rowTiles(size: number): number[] {
  const common = [1, 2, 4, 6, 8, 12, 14, 16];
  return ascending([...common, ...divisors(size, 1, 16)].filter((tile) => tile <= size));
}

/** Columns of the register tile, the dimension of vectors: multiples of the `lanes` in one register. */
function laneTiles(size: number, lanes: number): number[] {
  const common = [0.5, 1, 2, 3, 4, 8, 16].map((factor) => factor * lanes);
  const dividing = divisors(size, lanes / 4, 4 * lanes);
  return ascending(
    [...common, ...dividing, ...(size < lanes ? [size] : [])].filter(
      (t) => t >= 1 && t <= roundUp(size, lanes),
    ),
  );
}

/** Steps of the innermost reduction. `lanes` matters if the vectors lie along the reduction. */
function reductionTiles(size: number): number[] {
  return ascending([1, 2, 4, 8, 16, 32, 64, 128, ...divisors(size, 1, 16)].filter((tile) => tile <= size));
}

/** Tiles of one workgroup: powers of two, multiples of 96 (for kernels of 6 and 12 rows), and the whole dimension. */
function workgroupTiles(size: number): number[] {
  const whole = size > 16 ? roundUp(size, 16) : size;
  const inner = [...POWERS.filter((p) => p >= 16), 48, 96, 192, 384, 768].filter((tile) => tile < size);
  return ascending([...inner, size, ...(whole <= 2 * size ? [whole] : [])].filter((t) => t <= LARGEST_TILE));
}

/** Blocks for a cache; 0 leaves the level out. */
function cacheTiles(size: number): number[] {
  return [0, ...[32, 64, 96, 128, 192, 256, 512].filter((tile) => tile < size)];
}

/** Blocks for rows of a matrix that is read once: a few rows at a time, in long contiguous reads. */
function streamedTiles(size: number): number[] {
  const [none, ...blocks] = cacheTiles(size);
  return [none!, ...[8, 16].filter((tile) => tile < size), ...blocks];
}

/** Batch entries of one workgroup. */
function batchTiles(size: number): number[] {
  return ascending([1, 2, 4, 8, 16, size].filter((tile) => tile <= Math.min(size, LARGEST_TILE)));
}

/** The values of a restriction that no configuration of a workload can have, with the broken rule. */
export function illegalValues(workload: OperationWork, options: SpaceOptions): readonly IllegalValue[] {
  const { only } = options;
  // With data tiling alone there are no plain tiles.
  if (only === undefined || only['data_tiling']?.includes(0) === false) return [];
  const knobs = knobsOf(workload, options);
  const named = knobs.filter(({ userName }) => Object.hasOwn(only, userName));
  const found = named.flatMap((knob) =>
    knob.values.flatMap((value): IllegalValue[] => {
      const rule = brokenRule(workload, knobs, knob, value, options);
      return rule === null ? [] : [{ knob: knob.userName, value, rule }];
    }),
  );
  return [...new Map(found.map((one) => [`${one.knob}=${one.value}`, one])).values()];
}

/** The rule that a value breaks for all values of the other knobs; null for a possible value. */
function brokenRule(
  workload: OperationWork,
  knobs: readonly TileKnob[],
  knob: TileKnob,
  value: number,
  options: SpaceOptions,
): string | null {
  const { kind, size } = workload.dimensions[knob.dimension]!;
  if (value > knob.most) return `the tile is larger than the dimension (${kind}=${size})`;
  let broken: string | null = null;
  for (const values of combinations(knobs.map((one) => (one === knob ? [value] : mildest(workload, one))))) {
    const choice = Object.fromEntries(knobs.map(({ name }, i) => [name, values[i]!]));
    const rule = illegality(workload, configurationOf(workload.dimensions, choice), options);
    if (rule === null) return null;
    broken ??= rule;
  }
  return broken;
}

/** The values of a knob that break the fewest rules. The rules limit vectors and blocks from above only. */
function mildest(workload: OperationWork, { level, dimension, values }: TileKnob): number[] {
  const { size } = workload.dimensions[dimension]!;
  const least = values[0];
  const some = {
    vector: [least],
    inner: [least],
    // A distribution tile without remainder bounds the block in a cache.
    distribution: [least, values.find((tile) => size % tile === 0)],
    cache: [least, values.find((tile) => tile > 0)],
  }[level];
  return [...new Set(some.filter((tile) => tile !== undefined))];
}
