// The knobs of the DoubleTilingExpert pipeline: six tile levels and loop peeling; and configurations as points.
import type { Knob, Point } from '../../search/space.ts';
import type { Dimension } from '../../workload/contraction/contraction.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { tileOf, withTiles, type LevelName, type TileConfiguration } from './configuration.ts';
import { elementsPerVector } from './legality.ts';
import {
  batchTiles,
  cacheTiles,
  laneTiles,
  reductionTiles,
  roundUp,
  rowTiles,
  streamedTiles,
  workgroupTiles,
} from './tile-sizes.ts';

export interface TileKnob extends Knob {
  readonly level: LevelName;
  readonly dimension: number;
  /** The user's name, the same for all dimensions of a kind: see `user-knobs.ts`. */
  readonly userName: string;
  /** The largest useful tile. */
  readonly most: number;
}

/** All knobs of a workload: tiles in their order, and peeling, 0 or 1, as the last knob. */
export interface Knobs {
  readonly tiles: readonly TileKnob[];
  readonly peeling: readonly number[];
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

/** Results of one register. */
export const lanesOf = (
  { accumulator }: OperationWork,
  { nativeVectorBytes }: Pick<SpaceOptions, 'nativeVectorBytes'>,
): number => elementsPerVector(accumulator.elementType, { nativeVectorBytes });

/** The knobs of a workload, with the user's values, or else the values of the space. */
export function knobsOf(
  workload: OperationWork,
  { only, ...options }: Pick<SpaceOptions, 'nativeVectorBytes' | 'only'>,
): Knobs {
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
    const name = `${level}.${kind}${dimension}`;
    tiles.push({ name, userName, level, dimension, values, most, isInner, ...whole });
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
  return { tiles, peeling: only?.['peeling'] ?? [0, 1] };
}

/** Without tiles that are larger than the largest useful tile. Only users name such tiles. */
export const fitting = ({ tiles, peeling }: Knobs): Knobs => ({
  tiles: tiles.map((knob) => ({ ...knob, values: knob.values.filter((tile) => tile <= knob.most) })),
  peeling,
});

/** The configuration at a point, legal or not. */
export const configurationOf = (
  dimensions: readonly Dimension[],
  { tiles: knobs, peeling }: Knobs,
  point: Point,
): TileConfiguration =>
  withTiles(dimensions, peeling[point.at(-1)!] === 1, (name, d) => {
    const i = knobs.findIndex((knob) => knob.level === name && knob.dimension === d);
    return i < 0 ? 0 : knobs[i]!.values[point[i]!]!;
  });

/** The values of all knobs for a configuration; null for a configuration with other knobs. */
export const valuesOf = ({ tiles }: Pick<Knobs, 'tiles'>, c: Configuration): number[] | null =>
  c.kind === 'tile'
    ? [...tiles.map(({ level, dimension }) => tileOf(c, level, dimension)), c.peeling ? 1 : 0]
    : null;
