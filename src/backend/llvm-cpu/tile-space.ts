// The search space of the DoubleTilingExpert pipeline: six tile levels and loop peeling.
import { elementsOf } from '../../workload/tensor.ts';
import type { OperationWork } from '../../workload/workload.ts';
import {
  legalPoints,
  pointWith,
  withKnobsLast,
  type Knob,
  type Point,
  type SearchSpace,
} from '../../search/space.ts';
import type { Hardware, SpaceOptions } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { canonical } from './canonical.ts';
import { DATA_TILE_CONFIGURATION, tileOf, type TileConfiguration } from './configuration.ts';
import { illegality, liveTileBytes, vectorTileLimit } from './legality.ts';
import { isDataTilable } from './families.ts';
import {
  configurationOf,
  fitting,
  knobsOf,
  laneDimension,
  lanesOf,
  rowDimension,
  rowsOf,
  type TileKnob,
  valuesOf,
} from './tile-knobs.ts';
import { roundUp } from './tile-sizes.ts';

/** Index of the value nearest to `wanted`; of two equally near values, the larger. */
function nearest(values: readonly number[], wanted: number): number {
  let best = 0;
  for (let i = 1; i < values.length; i++)
    if (Math.abs(values[i]! - wanted) <= Math.abs(values[best]! - wanted)) best = i;
  return best;
}

/** The largest value that divides `size` and is not much smaller than `wanted`; else the nearest value. */
function nearestEven(values: readonly number[], wanted: number, size: number): number {
  const even = values.findLastIndex((tile) => tile <= wanted && size % tile === 0);
  return even >= 0 && values[even]! >= wanted / 3 ? even : nearest(values, wanted);
}

/** This few rows against a large matrix are bound by memory, too. */
const FEW_ROWS = 4;

/** Preferences for one start: sizes in elements, matched to the nearest value of each knob. */
interface Recipe {
  readonly rows: number;
  /** Columns in vectors. */
  readonly vectors: number;
  readonly reduction: number;
  /** Workgroup tile as a share of the dimension (1 = whole) or, above 1, in elements. */
  readonly workgroup: readonly [m: number, n: number];
  readonly cache?: readonly [m: number, n: number, k: number];
}

/**
 * A portfolio: each recipe adds the most to the mean speed of the best start over the measured matmuls (greedy cover), so that a short
 * search tries the first ones. Twelve come within 0.1% of twice as many.
 */
const PORTFOLIO: readonly Recipe[] = [
  { rows: 14, vectors: 2, reduction: 1, workgroup: [1, 1] },
  { rows: 8, vectors: 2, reduction: 8, workgroup: [32, 256] },
  { rows: 16, vectors: 1, reduction: 1, workgroup: [1, 512] },
  { rows: 8, vectors: 2, reduction: 1, workgroup: [1, 1] },
  { rows: 4, vectors: 4, reduction: 4, workgroup: [1, 256] },
  { rows: 8, vectors: 2, reduction: 4, workgroup: [64, 256] },
  { rows: 4, vectors: 4, reduction: 16, workgroup: [1, 1], cache: [64, 64, 256] },
  { rows: 12, vectors: 2, reduction: 1, workgroup: [192, 256] },
  { rows: 8, vectors: 2, reduction: 16, workgroup: [64, 64] },
  { rows: 8, vectors: 2, reduction: 4, workgroup: [256, 1], cache: [32, 128, 256] },
  { rows: 4, vectors: 4, reduction: 4, workgroup: [256, 256] },
  { rows: 8, vectors: 2, reduction: 4, workgroup: [256, 256] },
];

/** A few rows against a large matrix are bound by memory. Long contiguous reads of a few rows are the fastest. */
const PORTFOLIO_OF_FEW_ROWS: readonly Recipe[] = [
  { rows: 1, vectors: 4, reduction: 8, workgroup: [1, 2048], cache: [0, 0, 8] },
  { rows: 4, vectors: 4, reduction: 4, workgroup: [256, 256] },
  { rows: 6, vectors: 4, reduction: 1, workgroup: [96, 512] },
  { rows: 1, vectors: 16, reduction: 2, workgroup: [1, 2048], cache: [0, 0, 8] },
  { rows: 1, vectors: 8, reduction: 4, workgroup: [1, 512], cache: [0, 0, 128] },
  { rows: 4, vectors: 4, reduction: 16, workgroup: [1, 1], cache: [64, 64, 256] },
  { rows: 1, vectors: 8, reduction: 8, workgroup: [1, 2048], cache: [0, 0, 8] },
  { rows: 1, vectors: 8, reduction: 2, workgroup: [16, 1] },
];

/** With few registers: they also hold a row of one operand and an element of the other operand. */
const PORTFOLIO_OF_FEW_REGISTERS: readonly Recipe[] = [
  { rows: 6, vectors: 2, reduction: 4, workgroup: [256, 256] },
  { rows: 6, vectors: 2, reduction: 1, workgroup: [1, 1] },
  { rows: 4, vectors: 2, reduction: 4, workgroup: [1, 1] },
  { rows: 12, vectors: 1, reduction: 1, workgroup: [1, 1] },
];

/** @param registers number of vector registers @param rows of the result */
function recipesFor(registers: number, rows: number): readonly Recipe[] {
  if (rows <= FEW_ROWS) return PORTFOLIO_OF_FEW_ROWS;
  return registers < 32 ? [...PORTFOLIO_OF_FEW_REGISTERS, ...PORTFOLIO] : PORTFOLIO;
}

function startAt(
  workload: OperationWork,
  knobs: readonly TileKnob[],
  recipe: Recipe,
  lanes: number,
): number[] {
  const lane = laneDimension(workload);
  const row = rowDimension(workload);
  const rowsInside = workload.dimensions[row]?.size ?? 1;
  return knobs.map(({ level, dimension, values }) => {
    const { kind, size } = workload.dimensions[dimension]!;
    const column = dimension === lane;
    const isOuter = !column && dimension !== row;
    switch (level) {
      case 'distribution': {
        if (kind === 'batch') return nearest(values, 1);
        const wanted = recipe.workgroup[column ? 1 : 0];
        if (wanted <= 1) return nearest(values, wanted * roundUp(size, 16));
        // With one row, a last workgroup with fewer columns is much slower per column.
        if (column && recipe.rows === 1) return nearestEven(values, wanted, size);
        return nearest(values, isOuter ? Math.ceil(wanted / rowsInside) : wanted);
      }
      case 'vector':
        if (kind === 'k') return nearest(values, recipe.reduction);
        return nearest(values, column ? recipe.vectors * lanes : isOuter ? 1 : recipe.rows);
      case 'cache': {
        const [m, n, k] = recipe.cache ?? [0, 0, 0];
        return nearest(values, kind === 'k' ? k : column ? n : m);
      }
      case 'inner':
        return 0;
    }
  });
}

/** Whether a tile of a start may leave a remainder, which needs peeling. */
function leavesRemainder(workload: OperationWork, c: TileConfiguration): boolean {
  return workload.dimensions.some(({ size, sizes }, d) => {
    const tile = tileOf(c, 'vector', d);
    return sizes === undefined ? size % Math.max(1, tile) !== 0 : tile > 1;
  });
}

/** Share of the limit across `cache_reduction`. Above the share the compiler unrolls fused work for many seconds. */
const FUSED_LIVE_SHARE = 0.5;

/** Workgroups for each thread in a fine division of the work. */
const SHARES_PER_THREAD = 12;

/** Least products of a workgroup if there are more workgroups than threads: about ten microseconds. */
const LEAST_WORK = 2 ** 19;

const isSlowToCompile = (
  workload: OperationWork,
  configuration: TileConfiguration,
  unit: Pick<Hardware, 'nativeVectorBytes'>,
) =>
  workload.context !== undefined &&
  configuration.cacheReduction !== undefined &&
  liveTileBytes(workload, configuration) > FUSED_LIVE_SHARE * vectorTileLimit(unit);

/** The search space of a workload. All its configurations compile. */
export function llvmCpuSpace(
  workload: OperationWork,
  options: Omit<SpaceOptions, 'following'>,
): SearchSpace<Configuration> {
  const { only } = options;
  const lanes = lanesOf(workload, options);
  const own = fitting(knobsOf(workload, options));
  const { tiles, peeling } = own;
  // Peeling removes the remainders of register tiles.
  const knobs: Knob[] = [...tiles, { name: 'peeling', values: peeling, isInner: true }];
  const [mayTile, mayDataTile] = [0, 1].map((value) => only?.['data_tiling']?.includes(value) ?? true);
  // All values of a user may be too large.
  const isEmpty = mayTile === false || tiles.some(({ values }) => values.length === 0);
  const configurationAt = (point: Point) => {
    if (isEmpty) return null;
    const chosen = configurationOf(workload.dimensions, own, point);
    // A value that the user names does not change.
    const configuration = only === undefined ? canonical(workload, chosen) : chosen;
    if (illegality(workload, configuration, options) !== null) return null;
    return isSlowToCompile(workload, configuration, options) ? null : configuration;
  };

  const workgroups = (c: TileConfiguration) =>
    elementsOf(workload.dimensions.map(({ size }, d) => Math.ceil(size / (c.distribution[d]! || size))));
  /** The next smaller tile. A divisor of the dimension goes first, unless it is much smaller. */
  const finer = ({ dimension, values }: TileKnob, at: number): number => {
    const { size } = workload.dimensions[dimension]!;
    const even = values.findLastIndex((tile, i) => i < at && tile > 0 && size % tile === 0);
    return even >= 0 && 2 * values[even]! >= values[at]! ? even : at - 1;
  };
  const { threads } = options;
  const work = elementsOf(workload.dimensions.map(({ size }) => size));
  /**
   * Splits a start along its coarsest dimension until it has the wanted number of workgroups, if possible. More workgroups than threads
   * need a whole register tile and enough work each.
   */
  const spread = (start: Point, least: number): Point => {
    let point = start;
    for (;;) {
      const configuration = configurationOf(workload.dimensions, own, point);
      const count = workgroups(configuration);
      if (count >= least) return point;
      const smallest = (dimension: number) =>
        count < threads ? 0 : configuration.vectorCommonParallel[dimension]!;
      const [coarsest] = tiles
        .map((knob, i) => ({ ...knob, i, tile: knob.values[point[i]!]!, next: finer(knob, point[i]!) }))
        .filter(
          ({ level, dimension, values, next }) =>
            level === 'distribution' && next >= 0 && values[next]! >= smallest(dimension),
        )
        .sort((a, b) => b.tile - a.tile);
      if (coarsest === undefined) return point;
      const next = point.with(coarsest.i, coarsest.next);
      const nextCount = workgroups(configurationOf(workload.dimensions, own, next));
      if (count >= threads && work / nextCount < LEAST_WORK) return point;
      point = next;
    }
  };
  // Threads are not equally free: with one workgroup each, all wait for the slowest thread.
  const divisions = threads === 1 ? [1] : [SHARES_PER_THREAD * threads, threads];
  const starts: Point[] = [];
  for (const recipe of recipesFor(options.vectorRegisters, rowsOf(workload))) {
    for (const [i, peel] of peeling.entries()) {
      const start = [...startAt(workload, tiles, recipe, lanes), i];
      const configuration = configurationOf(workload.dimensions, own, start);
      if (peeling.length > 1 && leavesRemainder(workload, configuration) !== (peel === 1)) continue;
      for (const least of divisions) starts.push(spread(start, least));
    }
  }
  const isPackable = mayDataTile !== false && options.wholeProgram && isDataTilable(workload);
  const space: SearchSpace<Configuration> = {
    knobs,
    starts: legalPoints(starts, configurationAt),
    alternatives: isPackable ? [DATA_TILE_CONFIGURATION] : [],
    configurationAt,
    pointOf: (configuration) => pointWith(knobs, valuesOf(own, configuration)),
    valuesOf: (configuration) => valuesOf(own, configuration),
  };
  // A search of named knobs compares the user's values before it changes other knobs.
  const isNamed = (i: number) => Object.hasOwn(only ?? {}, tiles[i]?.userName ?? 'peeling');
  return only === undefined ? space : withKnobsLast(space, isNamed);
}
