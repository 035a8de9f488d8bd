// The search space of llvm-cpu's DoubleTilingExpert pipeline: all six tile levels and loop peeling.
import { elementBits } from '../workload/element-type.ts';
import type { Dimension, Workload } from '../workload/workload.ts';
import { DATA_TILE_CONFIGURATION, type Configuration, type TileConfiguration } from './configuration.ts';
import { illegality, type VectorUnit } from './legality.ts';
import type { Knob, Point, SearchSpace } from './space.ts';
import {
  batchTiles,
  cacheTiles,
  laneTiles,
  reductionTiles,
  roundUp,
  rowTiles,
  workgroupTiles,
} from './tile-sizes.ts';

/** What the space needs to know of the target and the device. */
export interface CpuSpaceOptions extends VectorUnit {
  /** Threads that the program will run on: workgroups should not be fewer. */
  readonly threads: number;
  /** Whether operations may be data-tiled one by one: not when the user has decided about data tiling. */
  readonly dataTiling: boolean;
}

type LevelName = 'distribution' | 'cache' | 'vector' | 'inner';
type TileKnob = Knob & { readonly level: LevelName; readonly dimension: number };

/** Where the vectors lie: the dimension that is contiguous in the result and, when possible, in the rhs. */
function laneDimension(workload: Workload): number {
  return workload.accumulator.dimensions.at(-1) ?? workload.dimensions.length - 1;
}

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
    { rows: 4, columns: wide, reduction: 4, workgroup: [256, 256] },
    { rows: 8, columns: middle, reduction: 4, workgroup: [64, 256] },
    { rows: 12, columns: middle, reduction: 1, workgroup: [192, 256] },
    { rows: 6, columns: wide, reduction: 1, workgroup: [96, 512] },
    { rows: 4, columns: wide, reduction: 4, workgroup: [1, 256] },
    { rows: 8, columns: middle, reduction: 8, workgroup: [32, 256] },
    { rows: 4, columns: wide, reduction: 16, workgroup: [1, 1], cache: [96, 64, 256] },
    { rows: 6, columns: middle, reduction: 8, workgroup: [1, 1], cache: [96, 32, 256] },
    { rows: 8, columns: middle, reduction: 4, workgroup: [256, 1], cache: [64, 128, 256] },
    // One row against a large matrix is bound by memory: blocks of k stream it in long runs.
    { rows: 1, columns: lanes, reduction: 16, workgroup: [1, 2048], cache: [0, 0, 128] },
    { rows: 1, columns: 8 * lanes, reduction: 4, workgroup: [1, 512], cache: [0, 0, 128] },
    { rows: 1, columns: 8 * lanes, reduction: 16, workgroup: [1, 256] },
    { rows: 1, columns: wide, reduction: 8, workgroup: [1, 128] },
    { rows: 2, columns: wide, reduction: 4, workgroup: [64, 128] },
    { rows: 16, columns: lanes, reduction: 4, workgroup: [128, 64] },
    { rows: 8, columns: middle, reduction: 16, workgroup: [64, 64] },
  ];
}

function startAt(workload: Workload, knobs: readonly TileKnob[], recipe: Recipe, peel: 0 | 1): number[] {
  const lane = laneDimension(workload);
  const point = knobs.map(({ level, dimension, values }) => {
    const { kind, size } = workload.dimensions[dimension]!;
    const column = dimension === lane;
    switch (level) {
      case 'distribution': {
        const wanted = kind === 'batch' ? 1 : recipe.workgroup[column ? 1 : 0];
        return nearest(values, kind !== 'batch' && wanted <= 1 ? wanted * roundUp(size, 16) : wanted);
      }
      case 'vector':
        if (kind === 'k') return nearest(values, recipe.reduction);
        return nearest(values, column ? recipe.columns : recipe.rows);
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

/** The compiler packs contractions with at most one dimension of each kind, and at least m or n beside k. */
function isDataTilable({ dimensions }: Workload): boolean {
  const kinds = dimensions.map(({ kind }) => kind);
  return new Set(kinds).size === kinds.length && (kinds.includes('m') || kinds.includes('n'));
}

/** All configurations worth trying for `workload`; everything it yields compiles. */
export function llvmCpuSpace(workload: Workload, options: CpuSpaceOptions): SearchSpace {
  const lanes = Math.max(1, (options.nativeVectorBytes * 8) / elementBits(workload.accumulator.elementType));
  const tiles = tileKnobs(workload, lanes);
  const knobs: Knob[] = [...tiles, { name: 'peeling', values: [0, 1] }];
  const configurationAt = (point: Point) => {
    const configuration = configurationOf(workload.dimensions, tiles, point);
    return illegality(workload, configuration, options) === null ? configuration : null;
  };

  const workgroups = (c: TileConfiguration) =>
    workload.dimensions.reduce((n, { size }, d) => n * Math.ceil(size / (c.distribution[d]! || size)), 1);
  const starts = new Map<string, Point>();
  for (const recipe of recipes(lanes)) {
    for (const peel of [0, 1] as const) {
      const point = startAt(workload, tiles, recipe, peel);
      const configuration = configurationOf(workload.dimensions, tiles, point);
      if (leavesRemainder(workload, configuration) !== (peel === 1)) continue;
      // A start that leaves threads idle is spread along the dimension it splits most coarsely.
      while (workgroups(configurationOf(workload.dimensions, tiles, point)) < options.threads) {
        const coarsest = tiles
          .map((knob, i) => ({ knob, i }))
          .filter(({ knob, i }) => knob.level === 'distribution' && point[i]! > 0)
          .sort((a, b) => b.knob.values[point[b.i]!]! - a.knob.values[point[a.i]!]!)[0];
        if (coarsest === undefined) break;
        point[coarsest.i]! -= 1;
      }
      if (configurationAt(point) !== null) starts.set(point.join(), point);
    }
  }
  return {
    knobs,
    starts: [...starts.values()],
    alternatives: options.dataTiling && isDataTilable(workload) ? [DATA_TILE_CONFIGURATION] : [],
    configurationAt,
    pointOf: (configuration) => pointOf(tiles, configuration),
  };
}
