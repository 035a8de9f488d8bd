// The search space of llvm-cpu's DoubleTilingExpert pipeline: all six tile levels and loop peeling.
import { elementBits } from '../../workload/element-type.ts';
import type { Dimension } from '../../workload/contraction/contraction.ts';
import type { Workload } from '../../workload/workload.ts';
import type { Knob, Point, SearchSpace } from '../../search/space.ts';
import type { SpaceOptions } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { DATA_TILE_CONFIGURATION, type TileConfiguration } from './configuration.ts';
import { illegality } from './legality.ts';
import { isDataTilable } from './families.ts';
import {
  batchTiles,
  cacheTiles,
  laneTiles,
  reductionTiles,
  roundUp,
  rowTiles,
  workgroupTiles,
} from './tile-sizes.ts';

type LevelName = 'distribution' | 'cache' | 'vector' | 'inner';
type TileKnob = Knob & { readonly level: LevelName; readonly dimension: number };

/** Where the vectors lie: the dimension that is contiguous in the result and, when possible, in the rhs. */
function laneDimension(workload: Workload): number {
  return workload.accumulator.dimensions.at(-1) ?? workload.dimensions.length - 1;
}

/**
 * Where the rows of the register tile lie: the innermost of the dimensions that are neither reduced nor in the vectors.
 * With rows along several there would be more accumulators than registers.
 */
const rowDimension = (workload: Workload): number =>
  workload.accumulator.dimensions.findLast(
    (d) => d !== laneDimension(workload) && workload.dimensions[d]!.kind !== 'batch',
  ) ?? -1;

function tileKnobs(workload: Workload, lanes: number): TileKnob[] {
  const lane = laneDimension(workload);
  const isMatvec = workload.rhs.dimensions.every((d) => workload.dimensions[d]!.kind === 'k');
  const knobs: TileKnob[] = [];
  const add = (level: LevelName, dimension: number, values: readonly number[]) => {
    const name = `${level}.${workload.dimensions[dimension]!.kind}${dimension}`;
    knobs.push({ name, level, dimension, values });
  };
  for (const [d, { kind, size }] of workload.dimensions.entries()) {
    if (kind === 'batch') {
      add('distribution', d, batchTiles(size));
      add('vector', d, [1]);
    } else if (kind === 'k') {
      // With no n the products are summed along k, so that is where the vectors lie.
      add('vector', d, isMatvec ? laneTiles(size, lanes) : reductionTiles(size));
      add('cache', d, cacheTiles(size));
    } else {
      add('distribution', d, workgroupTiles(size));
      add('vector', d, d === lane && !isMatvec ? laneTiles(size, lanes) : rowTiles(size));
      add('cache', d, cacheTiles(size));
      if (d === lane && size > lanes) add('inner', d, [0, lanes]);
    }
  }
  return knobs;
}

/** Index of the value nearest to `wanted`, the larger of two that are equally near. */
function nearest(values: readonly number[], wanted: number): number {
  let best = 0;
  for (let i = 1; i < values.length; i++)
    if (Math.abs(values[i]! - wanted) <= Math.abs(values[best]! - wanted)) best = i;
  return best;
}

function configurationOf(
  dimensions: readonly Dimension[],
  knobs: readonly TileKnob[],
  point: Point,
): TileConfiguration {
  const level = (name: LevelName, parallel: boolean) =>
    dimensions.map(({ kind }, d) => {
      if ((kind !== 'k') !== parallel) return 0;
      const i = knobs.findIndex((knob) => knob.level === name && knob.dimension === d);
      return i < 0 ? 0 : knobs[i]!.values[point[i]!]!;
    });
  const used = (tiles: number[]) => (tiles.some((tile) => tile > 0) ? tiles : undefined);
  const cacheParallel = used(level('cache', true));
  const cacheReduction = used(level('cache', false));
  const vectorInnerParallel = used(level('inner', true));
  return {
    version: 1,
    kind: 'tile',
    distribution: level('distribution', true),
    ...(cacheParallel && { cacheParallel }),
    ...(cacheReduction && { cacheReduction }),
    vectorCommonParallel: level('vector', true),
    vectorReduction: level('vector', false),
    ...(vectorInnerParallel && { vectorInnerParallel }),
    peeling: point.at(-1) === 1,
  };
}

/** The inverse of `configurationOf`; null when a tile is not among a knob's values. */
function pointOf(knobs: readonly TileKnob[], c: Configuration): Point | null {
  if (c.kind !== 'tile') return null;
  const point = knobs.map(({ level, dimension, values }) => {
    const parallel = {
      distribution: c.distribution,
      cache: c.cacheParallel,
      vector: c.vectorCommonParallel,
      inner: c.vectorInnerParallel,
    };
    const reduction = {
      distribution: undefined,
      cache: c.cacheReduction,
      vector: c.vectorReduction,
      inner: undefined,
    };
    return values.indexOf(parallel[level]?.[dimension] || reduction[level]?.[dimension] || 0);
  });
  return point.includes(-1) ? null : [...point, c.peeling ? 1 : 0];
}

/** Preferences for one start: sizes in elements, matched to the nearest value of each knob. */
interface Recipe {
  readonly rows: number;
  readonly columns: number;
  readonly reduction: number;
  /** Workgroup tile as a share of the dimension (1 = whole) or, above 1, in elements. */
  readonly workgroup: readonly [m: number, n: number];
  readonly cache?: readonly [m: number, n: number, k: number];
}

/** Register tiles that keep 12 to 28 vector accumulators, blocked for registers alone or for the caches too. */
function recipes(lanes: number): Recipe[] {
  const wide = 4 * lanes;
  const middle = 2 * lanes;
  return [
    { rows: 8, columns: middle, reduction: 4, workgroup: [256, 256] },
    { rows: 8, columns: middle, reduction: 1, workgroup: [1, 1] },
    // One register of columns, whose rows are broadcast as they are multiplied: the best of many awkward sizes.
    { rows: 16, columns: lanes, reduction: 1, workgroup: [128, 64] },
    { rows: 4, columns: wide, reduction: 4, workgroup: [256, 256] },
    { rows: 8, columns: middle, reduction: 4, workgroup: [64, 256] },
    { rows: 12, columns: middle, reduction: 1, workgroup: [192, 256] },
    { rows: 6, columns: wide, reduction: 1, workgroup: [96, 512] },
    { rows: 4, columns: wide, reduction: 4, workgroup: [1, 256] },
    { rows: 8, columns: middle, reduction: 8, workgroup: [32, 256] },
    { rows: 4, columns: wide, reduction: 16, workgroup: [1, 1], cache: [64, 64, 256] },
    { rows: 6, columns: middle, reduction: 8, workgroup: [1, 1], cache: [96, 32, 256] },
    { rows: 8, columns: middle, reduction: 4, workgroup: [256, 1], cache: [32, 128, 256] },
    // One row against a large matrix is bound by memory: blocks of k stream it in long runs.
    { rows: 1, columns: lanes, reduction: 16, workgroup: [1, 2048], cache: [0, 0, 128] },
    { rows: 1, columns: 8 * lanes, reduction: 4, workgroup: [1, 512], cache: [0, 0, 128] },
    { rows: 1, columns: 8 * lanes, reduction: 16, workgroup: [1, 256] },
    { rows: 1, columns: wide, reduction: 8, workgroup: [1, 128] },
    { rows: 2, columns: wide, reduction: 4, workgroup: [64, 128] },
    { rows: 16, columns: lanes, reduction: 1, workgroup: [128, 512] },
    { rows: 8, columns: middle, reduction: 16, workgroup: [64, 64] },
  ];
}

function startAt(workload: Workload, knobs: readonly TileKnob[], recipe: Recipe, peel: 0 | 1): number[] {
  const lane = laneDimension(workload);
  const row = rowDimension(workload);
  const rowsInside = workload.dimensions[row]?.size ?? 1;
  const point = knobs.map(({ level, dimension, values }) => {
    const { kind, size } = workload.dimensions[dimension]!;
    const column = dimension === lane;
    const isOuter = !column && dimension !== row;
    switch (level) {
      case 'distribution': {
        if (kind === 'batch') return nearest(values, 1);
        const wanted = recipe.workgroup[column ? 1 : 0];
        if (wanted <= 1) return nearest(values, wanted * roundUp(size, 16));
        return nearest(values, isOuter ? Math.ceil(wanted / rowsInside) : wanted);
      }
      case 'vector':
        if (kind === 'k') return nearest(values, recipe.reduction);
        return nearest(values, column ? recipe.columns : isOuter ? 1 : recipe.rows);
      case 'cache': {
        const [m, n, k] = recipe.cache ?? [0, 0, 0];
        return nearest(values, kind === 'k' ? k : column ? n : m);
      }
      case 'inner':
        return 0;
    }
  });
  return [...point, peel];
}

/** Whether a tile of a start may leave a remainder, which is then peeled off. */
function leavesRemainder(workload: Workload, c: TileConfiguration): boolean {
  return workload.dimensions.some(({ kind, size, sizes }, d) => {
    const tile = kind === 'k' ? c.vectorReduction[d]! : c.vectorCommonParallel[d]!;
    return sizes === undefined ? size % Math.max(1, tile) !== 0 : tile > 1;
  });
}

/** Workgroups for each thread where work is divided finely. */
const SHARES_PER_THREAD = 12;

/** All configurations worth trying for `workload`; everything it yields compiles. */
export function llvmCpuSpace(
  workload: Workload,
  options: Omit<SpaceOptions, 'following'>,
): SearchSpace<Configuration> {
  const lanes = Math.max(1, (options.nativeVectorBytes * 8) / elementBits(workload.accumulator.elementType));
  const tiles = tileKnobs(workload, lanes);
  const knobs: Knob[] = [...tiles, { name: 'peeling', values: [0, 1] }];
  const configurationAt = (point: Point) => {
    const configuration = configurationOf(workload.dimensions, tiles, point);
    return illegality(workload, configuration, options) === null ? configuration : null;
  };

  const workgroups = (c: TileConfiguration) =>
    workload.dimensions.reduce((n, { size }, d) => n * Math.ceil(size / (c.distribution[d]! || size)), 1);
  /** A start with at least so many workgroups, as far as there can be, is spread along what it splits most coarsely. */
  const spread = (start: Point, least: number): Point => {
    const point = [...start];
    while (workgroups(configurationOf(workload.dimensions, tiles, point)) < least) {
      const coarsest = tiles
        .map((knob, i) => ({ knob, i }))
        .filter(({ knob, i }) => knob.level === 'distribution' && point[i]! > 0)
        .sort((a, b) => b.knob.values[point[b.i]!]! - a.knob.values[point[a.i]!]!)[0];
      if (coarsest === undefined) break;
      point[coarsest.i]! -= 1;
    }
    return point;
  };
  const { threads } = options;
  // Threads are not equally free: what is divided by their number alone waits for the last one.
  const divisions = threads === 1 ? [1] : [SHARES_PER_THREAD * threads, threads];
  const starts = new Map<string, Point>();
  for (const recipe of recipes(lanes)) {
    for (const peel of [0, 1] as const) {
      const start = startAt(workload, tiles, recipe, peel);
      const configuration = configurationOf(workload.dimensions, tiles, start);
      if (leavesRemainder(workload, configuration) !== (peel === 1)) continue;
      for (const least of divisions) {
        const point = spread(start, least);
        if (configurationAt(point) !== null) starts.set(point.join(), point);
      }
    }
  }
  return {
    knobs,
    starts: [...starts.values()],
    alternatives: options.wholeProgram && isDataTilable(workload) ? [DATA_TILE_CONFIGURATION] : [],
    configurationAt,
    pointOf: (configuration) => pointOf(tiles, configuration),
  };
}
