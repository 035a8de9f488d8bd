// The search space of a dispatch: a tile of one workgroup and one of registers along each of its dimensions. Tiles that divide come
// first: where the compiler's own leave a remainder, it generates scalar code.
import { nearestByRatio } from '../../search/nearest.ts';
import { legalPoints, pointWith, type Knob, type Point, type SearchSpace } from '../../search/space.ts';
import {
  isAttention,
  multipliedAlong,
  type DispatchDimension,
  type DispatchPart,
  type DispatchWork,
} from '../../workload/dispatch/dispatch-work.ts';
import { elementBits } from '../../workload/element-type.ts';
import type { SpaceOptions } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { LARGEST_TILE, type DispatchTileConfiguration } from './configuration.ts';
import { elementsPerVector, vectorTileLimit } from './legality.ts';
import { ascending, divisors } from './tile-sizes.ts';

/** Sizes that registers and caches favour: of the divisors of a dimension, the nearest to each of them are tried. */
const WANTED_VECTORS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const WANTED_WORKGROUPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** A dynamic dimension may be larger than the sizes that it is tuned at: its tiles are at least up to this. */
const LEAST_DYNAMIC = 16;

/** Vectors of so many elements leave a remainder of most sizes that they do not divide, and are masked there. */
const MASKED = [8, 16, 32];

/** Whether a tile leaves no remainder; nobody knows of a dynamic dimension, whose remainders are masked. */
const divides = (tile: number, { size, sizes }: DispatchDimension): boolean =>
  sizes !== undefined || size % tile === 0;

/** The nearest divisors of a dimension to what is wanted, each once; of a dynamic one what is wanted itself. */
function dividing({ size, sizes }: DispatchDimension, wanted: readonly number[], most: number): number[] {
  if (sizes !== undefined)
    return wanted.filter((one) => one <= Math.min(most, Math.max(2 * size, LEAST_DYNAMIC)));
  const all = divisors(size, 1, Math.min(LARGEST_TILE, Math.max(most, 1)));
  const near = wanted.flatMap((one) => (one > 2 * size ? [] : [all[nearestByRatio(all, one)]!]));
  return ascending([...near, ...(size <= most ? [size] : [])]);
}

/** Preferences for one start, in elements: registers along the lane, the row and what is summed; workgroups along lane and row. */
interface Recipe {
  readonly lane: number;
  readonly row: number;
  readonly depth: number;
  readonly workgroup: readonly [lane: number, row: number];
  /** Of an attention: keys at once. */
  readonly keys?: number;
}

/**
 * Of the vectors that the compiler takes: element-wise work and reductions that are unrolled beyond that take it 5 to 20 seconds. What an
 * attention holds at once is used up step by step.
 */
const UNROLLED_SHARE = 0.5;

const WHOLE = LARGEST_TILE;

/** Best guess first. @param lanes elements of a vector */
const RECIPES = (lanes: number): readonly Recipe[] => [
  { lane: 4 * lanes, row: 4, depth: 4 * lanes, workgroup: [WHOLE, 64] },
  { lane: 2 * lanes, row: 4, depth: 2 * lanes, workgroup: [WHOLE, 32] },
  { lane: lanes, row: lanes, depth: lanes, workgroup: [64, 64] },
  { lane: 8 * lanes, row: 1, depth: 8 * lanes, workgroup: [WHOLE, 16] },
  { lane: lanes, row: 4, depth: lanes, workgroup: [WHOLE, 16] },
  { lane: lanes / 2, row: 8, depth: 1, workgroup: [64, 64] },
  { lane: 4 * lanes, row: 2, depth: 1, workgroup: [256, 4] },
  { lane: 16 * lanes, row: 1, depth: 16 * lanes, workgroup: [WHOLE, 1] },
];

/**
 * The same for an attention: a few queries with all columns of the values, and a few keys at a time. The dimension along which
 * queries and keys are multiplied is taken whole: in steps, the compiler would make weights of a part of each product, which are wrong.
 */
const ATTENTION = (lanes: number): readonly Recipe[] => [
  { lane: 4 * lanes, row: 8, keys: 8, depth: WHOLE, workgroup: [WHOLE, 64] },
  { lane: 4 * lanes, row: 4, keys: 16, depth: WHOLE, workgroup: [WHOLE, 64] },
  { lane: 4 * lanes, row: 8, keys: 16, depth: WHOLE, workgroup: [WHOLE, 64] },
  { lane: 4 * lanes, row: 2, keys: 16, depth: WHOLE, workgroup: [WHOLE, 32] },
  { lane: 2 * lanes, row: 8, keys: 16, depth: WHOLE, workgroup: [WHOLE, 64] },
  { lane: 4 * lanes, row: 4, keys: 4, depth: WHOLE, workgroup: [WHOLE, 64] },
  { lane: 4 * lanes, row: 16, keys: 4, depth: WHOLE, workgroup: [WHOLE, 64] },
  { lane: 4 * lanes, row: 1, keys: 16, depth: WHOLE, workgroup: [WHOLE, 8] },
  { lane: 4 * lanes, row: 1, keys: 4, depth: WHOLE, workgroup: [WHOLE, 8] },
];

/** All configurations worth trying for a dispatch. The search finds out by trying which of them compile. */
export function dispatchSpace(
  workload: DispatchWork,
  { nativeVectorBytes, threads }: Pick<SpaceOptions, 'nativeVectorBytes' | 'threads'>,
): SearchSpace<Configuration> {
  const { dimensions, elementType, parts } = workload;
  const lanes = elementsPerVector(elementType, { nativeVectorBytes });
  const lane = workload.lane ?? dimensions.length - 1;
  const distributed = dimensions.flatMap(({ kind }, d) => (kind === 'm' ? [d] : []));
  const row = distributed.findLast((d) => d !== lane) ?? -1;
  const attention = parts.find(isAttention) ?? null;
  const key = attention && attention.loops[attention.reduced[0]!]!;
  const multiplied = multipliedAlong(parts);

  const vectors = dimensions.map((dimension, d) => {
    const { size } = dimension;
    if (d === multiplied) return [size];
    const even = dividing(dimension, WANTED_VECTORS, 512);
    const masked = MASKED.filter((one) => one < size && !divides(one, dimension));
    return ascending([...even, ...masked]);
  });
  const workgroups = distributed.map((d) => dividing(dimensions[d]!, WANTED_WORKGROUPS, LARGEST_TILE));
  const nameOf = (d: number) => `${dimensions[d]!.kind}${d}`;
  const knobs: Knob[] = [
    ...distributed.map((d, i) => ({ name: `distribution.${nameOf(d)}`, values: workgroups[i]! })),
    ...dimensions.map((_, d) => ({ name: `vector.${nameOf(d)}`, values: vectors[d]!, isInner: true })),
  ];
  const limit = vectorTileLimit({ nativeVectorBytes });
  const configurationAt = (point: Point): DispatchTileConfiguration | null => {
    const distribution = dimensions.map((_, d) => {
      const i = distributed.indexOf(d);
      return i < 0 ? 0 : workgroups[i]![point[i]!]!;
    });
    const vector = dimensions.map((_, d) => vectors[d]![point[distributed.length + d]!]!);
    // A workgroup takes whole vectors, or what is masked.
    const isEven = distribution.every(
      (tile, d) =>
        tile === 0 || tile % vector[d]! === 0 || (tile > vector[d]! && MASKED.includes(vector[d]!)),
    );
    const isSmall = parts.every((part) => {
      const bytes = (vectorElements(part, vector) * elementBits(elementType)) / 8;
      return bytes <= UNROLLED_SHARE * limit || (isAttention(part) && bytes < limit);
    });
    return isEven && isSmall ? { version: 1, kind: 'dispatch-tile', distribution, vector } : null;
  };
  const workgroupsAt = (point: Point) =>
    distributed.reduce((n, d, i) => n * Math.ceil(dimensions[d]!.size / workgroups[i]![point[i]!]!), 1);

  const startOf = (recipe: Recipe): Point => {
    const wanted = dimensions.map((_, d) => {
      if (d === lane) return isSummed(parts, d) ? recipe.depth : recipe.lane;
      if (d === row) return recipe.row;
      if (d === key) return recipe.keys ?? 1;
      return isSummed(parts, d) ? recipe.depth : 1;
    });
    const inner = wanted.map((one, d) => nearestDividing(vectors[d]!, one, dimensions[d]!));
    const outer = distributed.map((d, i) => {
      const [alongLane, alongRow] = recipe.workgroup;
      const one = d === lane ? alongLane : d === row ? alongRow : 1;
      let at = nearestByRatio(workgroups[i]!, Math.min(one, dimensions[d]!.size));
      while (at < workgroups[i]!.length - 1 && workgroups[i]![at]! % vectors[d]![inner[d]!]! !== 0) at++;
      return at;
    });
    const point = [...outer, ...inner];
    // Each thread gets a share.
    while (workgroupsAt(point) < threads) {
      const coarsest = distributed.findIndex((_, i) => point[i]! > 0);
      if (coarsest < 0) break;
      point[coarsest]!--;
    }
    return point;
  };
  const valuesOf = (configuration: Configuration) =>
    configuration.kind === 'dispatch-tile'
      ? [
          ...distributed.map((d) => configuration.distribution[d] ?? 0),
          ...dimensions.map((_, d) => configuration.vector[d] ?? 0),
        ]
      : null;
  const recipes = (attention === null ? RECIPES : ATTENTION)(lanes);
  return {
    knobs,
    starts: legalPoints(recipes.map(startOf), configurationAt),
    alternatives: [],
    configurationAt,
    pointOf: (configuration) => pointWith(knobs, valuesOf(configuration)),
    valuesOf,
  };
}

/** Whether any operation sums up along a dimension. */
const isSummed = (parts: readonly DispatchPart[], dimension: number): boolean =>
  parts.some(({ loops, reduced }) => reduced.some((loop) => loops[loop] === dimension));

/** Index of the nearest value that divides a size. */
function nearestDividing(values: readonly number[], wanted: number, dimension: DispatchDimension): number {
  const even = values.filter((one) => divides(one, dimension));
  return values.indexOf(even[nearestByRatio(even, Math.min(wanted, dimension.size))]!);
}

/**
 * Elements that an operation has in registers at once. Attention is two products, each of which sums along what the other one
 * keeps: queries with keys, and their weights with values.
 */
function vectorElements(part: DispatchPart, vector: readonly number[]): number {
  const { loops, reduced } = part;
  const tiles = loops.map((d) => vector[d]!);
  const product = (isTaken: (loop: number) => boolean) =>
    tiles.reduce((elements, tile, loop) => (isTaken(loop) ? elements * tile : elements), 1);
  if (!isAttention(part)) return product(() => true);
  const depth = reduced.at(-1)!;
  const columns = loops.findLastIndex((_, loop) => !reduced.includes(loop));
  return Math.max(
    product((loop) => loop !== depth),
    product((loop) => loop !== columns),
  );
}
