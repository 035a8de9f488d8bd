// The search space of the DoubleTilingExpert pipeline: six tile levels and loop peeling.
import { elementsOf } from '../../workload/tensor.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { SearchSpace } from '../../search/space.ts';
import type { Hardware, SpaceOptions } from '../backend.ts';
import { spaceOfChoices, type Choice } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { roundUp } from '../tiles.ts';
import { DATA_TILE_CONFIGURATION, tileOf, type TileConfiguration } from './configuration.ts';
import { canonical, illegality, liveTileBytes, vectorTileLimit } from './legality.ts';
import { isDataTilable } from './data-tiling.ts';
import {
  configurationOf,
  knobsOf,
  laneDimension,
  lanesOf,
  rowDimension,
  rowsOf,
  type TileKnob,
} from './tile-knobs.ts';

/** The value nearest to `wanted`; of two equally near values, the larger. */
const nearest = (values: readonly number[], wanted: number): number =>
  values.reduce((best, value) => (Math.abs(value - wanted) <= Math.abs(best - wanted) ? value : best));

/** The largest value that divides `size` and is not much smaller than `wanted`; else the nearest value. */
function nearestEven(values: readonly number[], wanted: number, size: number): number {
  const even = values.findLast((tile) => tile <= wanted && size % tile === 0);
  return even !== undefined && even >= wanted / 3 ? even : nearest(values, wanted);
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

/** The values of the knobs that are nearest to a recipe. */
function startAt(
  workload: OperationWork,
  knobs: readonly TileKnob[],
  recipe: Recipe,
  lanes: number,
): Choice<string> {
  const lane = laneDimension(workload);
  const row = rowDimension(workload);
  const rowsInside = workload.dimensions[row]?.size ?? 1;
  const valueOf = ({ level, dimension, values }: TileKnob): number => {
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
        return values[0]!;
    }
  };
  return Object.fromEntries(knobs.map((knob) => [knob.name, valueOf(knob)]));
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

/** The next smaller tile, if any. A divisor of the dimension goes first, unless it is much smaller. */
function finer(size: number, values: readonly number[], tile: number): number | undefined {
  const smaller = values.filter((one) => one < tile);
  const even = smaller.findLast((one) => one > 0 && size % one === 0);
  return even !== undefined && 2 * even >= tile ? even : smaller.at(-1);
}

/** The search space of a workload. All its configurations compile. */
export function llvmCpuSpace(
  workload: OperationWork,
  options: Omit<SpaceOptions, 'following'>,
): SearchSpace<Configuration> {
  const { dimensions } = workload;
  const { only, threads } = options;
  const lanes = lanesOf(workload, options);
  // Only users name tiles that are larger than the largest useful tile.
  const tiles = knobsOf(workload, options).map((knob) => ({
    ...knob,
    values: knob.values.filter((tile) => tile <= knob.most),
  }));
  const peeling = only?.['peeling'] ?? [0, 1];
  const [mayTile, mayDataTile] = [0, 1].map((value) => only?.['data_tiling']?.includes(value) ?? true);
  // All values of a user may be too large.
  const isEmpty = mayTile === false || tiles.some(({ values }) => values.length === 0);

  const workgroups = (c: TileConfiguration) =>
    elementsOf(dimensions.map(({ size }, d) => Math.ceil(size / (c.distribution[d]! || size))));
  const work = elementsOf(dimensions.map(({ size }) => size));
  /**
   * Splits a start along its coarsest dimension until it has the wanted number of workgroups, if possible. More workgroups than threads
   * need a whole register tile and enough work each.
   */
  const spread = (start: Choice<string>, least: number): Choice<string> => {
    let chosen = start;
    for (;;) {
      const configuration = configurationOf(dimensions, chosen);
      const count = workgroups(configuration);
      if (count >= least) return chosen;
      const [coarsest] = tiles
        .flatMap(({ name, level, dimension, values }) => {
          const tile = chosen[name]!;
          const smallest = count < threads ? 0 : configuration.vectorCommonParallel[dimension]!;
          const next = finer(dimensions[dimension]!.size, values, tile);
          return level === 'distribution' && next !== undefined && next >= smallest
            ? [{ name, tile, next }]
            : [];
        })
        .sort((a, b) => b.tile - a.tile);
      if (coarsest === undefined) return chosen;
      const split = { ...chosen, [coarsest.name]: coarsest.next };
      const nextCount = workgroups(configurationOf(dimensions, split));
      if (count >= threads && work / nextCount < LEAST_WORK) return chosen;
      chosen = split;
    }
  };
  // Threads are not equally free: with one workgroup each, all wait for the slowest thread.
  const divisions = threads === 1 ? [1] : [SHARES_PER_THREAD * threads, threads];
  const recipes = isEmpty ? [] : recipesFor(options.vectorRegisters, rowsOf(workload));
  const starts = recipes.flatMap((recipe) => {
    const start = startAt(workload, tiles, recipe, lanes);
    const isPeeled = leavesRemainder(workload, configurationOf(dimensions, start));
    return peeling
      .filter((peel) => peeling.length === 1 || isPeeled === (peel === 1))
      .flatMap((peel) => divisions.map((least) => ({ ...spread(start, least), peeling: peel })));
  });

  // Peeling removes the remainders of register tiles.
  const peelingKnob = {
    ...{ name: 'peeling', userName: 'peeling', values: peeling, isInner: true },
    of: (c: TileConfiguration) => Number(c.peeling),
  };
  // A search of named knobs compares the user's values before it changes other knobs.
  const rank = ({ userName }: Pick<TileKnob, 'userName'>) => Number(Object.hasOwn(only ?? {}, userName));
  const knobs = [...tiles, peelingKnob].sort((a, b) => rank(a) - rank(b));
  const isPackable = mayDataTile !== false && options.wholeProgram && isDataTilable(workload);
  return {
    ...spaceOfChoices({
      kind: 'tile',
      knobs: Object.fromEntries(knobs.map((knob) => [knob.name, knob])),
      starts,
      at(choice) {
        if (isEmpty) return 'no value is possible';
        const chosen = configurationOf(dimensions, choice);
        // A value that the user names does not change.
        const configuration = only === undefined ? canonical(workload, chosen) : chosen;
        const rule = illegality(workload, configuration, options);
        if (rule !== null) return rule;
        return isSlowToCompile(workload, configuration, options) ? 'fused work is unrolled' : configuration;
      },
    }),
    alternatives: isPackable ? [DATA_TILE_CONFIGURATION] : [],
  };
}
