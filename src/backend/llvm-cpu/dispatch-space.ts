// The search space of a dispatch: a workgroup tile and a register tile along each dimension. Tiles that divide come first, because the
// compiler generates scalar code for remainders.
import { nearestByRatio, type SearchSpace } from '../../search/space.ts';
import {
  isAttention,
  multipliedAlong,
  type DispatchDimension,
  type DispatchPart,
  type DispatchWork,
} from '../../workload/dispatch/dispatch-work.ts';
import { elementBits } from '../../workload/element-type.ts';
import type { SpaceOptions } from '../backend.ts';
import { spaceOfChoices, type Choice, type NamedKnob } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { LARGEST_TILE } from '../schema.ts';
import { ascending } from '../../workload/sizes.ts';
import { divisors } from '../tiles.ts';
import type { DispatchTileConfiguration } from './configuration.ts';
import { elementsPerVector, vectorTileLimit } from './legality.ts';

/** Good sizes for registers and caches. The space has the nearest divisors of a dimension. */
const WANTED_VECTORS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const WANTED_WORKGROUPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** Tiles of a dynamic dimension go up to this size, because the dimension may be larger than its tuned sizes. */
const LEAST_DYNAMIC = 16;

/** Vectors of this many elements are masked along dimensions that they do not divide. */
const MASKED = [8, 16, 32];

/** Whether a tile leaves no remainder. The remainders of a dynamic dimension are masked, so every tile passes. */
const divides = (tile: number, { size, sizes }: DispatchDimension): boolean =>
  sizes !== undefined || size % tile === 0;

/** The divisors of a dimension that are nearest to the wanted sizes, each once; the wanted sizes of a dynamic dimension. */
function dividing({ size, sizes }: DispatchDimension, wanted: readonly number[], most: number): number[] {
  if (sizes !== undefined)
    return wanted.filter((one) => one <= Math.min(most, Math.max(2 * size, LEAST_DYNAMIC)));
  const all = divisors(size, 1, Math.min(LARGEST_TILE, Math.max(most, 1)));
  const near = wanted.flatMap((one) => (one > 2 * size ? [] : [nearestByRatio(all, one)]));
  return ascending([...near, ...(size <= most ? [size] : [])]);
}

/** Preferences for one start, in elements: registers along lane, row and reduction; workgroups along lane and row. */
interface Recipe {
  readonly lane: number;
  readonly row: number;
  readonly depth: number;
  readonly workgroup: readonly [lane: number, row: number];
  /** Keys of an attention at once. */
  readonly keys?: number;
}

/**
 * Shares of the compiler's limit for vectors. Above its share the compiler unrolls element-wise work for 5 to 20 seconds. A reduction is
 * unrolled for 4 to 6 seconds if its vectors lie across the rows: 64 x 64 elements take 4.8 s, 32 x 32 take 0.9 s. An attention uses its
 * vectors step by step, up to the limit.
 */
const [UNROLLED_SHARE, REDUCED_SHARE] = [1 / 2, 1 / 8];

const WHOLE = LARGEST_TILE;

/** Recipes, best guess first. @param lanes elements of a vector */
function recipesFor(lanes: number, isTransposed: boolean): readonly Recipe[] {
  const square: Recipe = { lane: lanes, row: lanes, depth: lanes, workgroup: [64, 64] };
  const oneRow: Recipe = { lane: 8 * lanes, row: 1, depth: 8 * lanes, workgroup: [WHOLE, 16] };
  return [
    { lane: 4 * lanes, row: 4, depth: 4 * lanes, workgroup: [WHOLE, 64] },
    { lane: 2 * lanes, row: 4, depth: 2 * lanes, workgroup: [WHOLE, 32] },
    ...(isTransposed ? [square, oneRow] : [oneRow, square]),
    { lane: lanes, row: 4, depth: lanes, workgroup: [WHOLE, 16] },
    { lane: lanes / 2, row: 8, depth: 1, workgroup: [64, 64] },
    { lane: 4 * lanes, row: 2, depth: 1, workgroup: [256, 4] },
    { lane: 16 * lanes, row: 1, depth: 16 * lanes, workgroup: [WHOLE, 1] },
  ];
}

/**
 * Recipes for an attention: a few queries with all columns of the values, and a few keys at a time. The dimension of the product of
 * queries and keys has no steps: with steps the compiler computes wrong weights from partial products.
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

/** The search space of a dispatch. Some of its configurations may not compile; the search finds out. */
export function dispatchSpace(
  workload: DispatchWork,
  {
    nativeVectorBytes,
    vectorRegisters,
    threads,
  }: Pick<SpaceOptions, 'nativeVectorBytes' | 'vectorRegisters' | 'threads'>,
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
  const knobs: Readonly<Record<string, NamedKnob<'dispatch-tile'>>> = Object.fromEntries([
    ...distributed.map((d, i): [string, NamedKnob<'dispatch-tile'>] => [
      `distribution.${nameOf(d)}`,
      { values: workgroups[i]!, of: ({ distribution }) => distribution[d] ?? 0 },
    ]),
    ...dimensions.map((_, d): [string, NamedKnob<'dispatch-tile'>] => [
      `vector.${nameOf(d)}`,
      { values: vectors[d]!, of: ({ vector }) => vector[d] ?? 0, isInner: true },
    ]),
  ]);
  const limit = vectorTileLimit({ nativeVectorBytes });
  const at = (choice: Choice<string>): DispatchTileConfiguration | string => {
    const distribution = dimensions.map((_, d) => choice[`distribution.${nameOf(d)}`] ?? 0);
    const vector = dimensions.map((_, d) => choice[`vector.${nameOf(d)}`]!);
    // A workgroup has whole vectors, or masked ones.
    const isEven = distribution.every(
      (tile, d) =>
        tile === 0 || tile % vector[d]! === 0 || (tile > vector[d]! && MASKED.includes(vector[d]!)),
    );
    const isSmall = parts.every((part) => {
      const bytes = (vectorElements(part, vector) * elementBits(elementType)) / 8;
      if (isAttention(part)) return bytes < limit;
      return bytes <= (part.reduced.length > 0 ? REDUCED_SHARE : UNROLLED_SHARE) * limit;
    });
    if (!isEven) return 'a workgroup has no whole vectors';
    return isSmall
      ? { version: 1, kind: 'dispatch-tile', distribution, vector }
      : 'the vectors of an operation are too large';
  };
  const workgroupsOf = (tiles: readonly number[]) =>
    distributed.reduce((n, d, i) => n * Math.ceil(dimensions[d]!.size / tiles[i]!), 1);

  const isReduction = dimensions.some((_, d) => isSummed(parts, d));
  const startOf = ({ depth, keys = 1, workgroup, ...recipe }: Recipe): Choice<string> => {
    const inner = dimensions.map((dimension, d) => {
      const wanted = () => {
        if (d === lane) return isSummed(parts, d) ? depth : recipe.lane;
        if (d === row) return recipe.row;
        if (d === key) return keys;
        return isSummed(parts, d) ? depth : 1;
      };
      const nearest = d === row && isReduction && attention === null ? nearestRows : nearestDividing;
      return nearest(vectors[d]!, wanted(), dimension);
    });
    const outer = distributed.map((d, i) => {
      const wanted = d === lane ? workgroup[0] : d === row ? workgroup[1] : 1;
      const tiles = workgroups[i]!;
      const least = nearestByRatio(tiles, Math.min(wanted, dimensions[d]!.size));
      return tiles.find((tile) => tile >= least && tile % inner[d]! === 0) ?? tiles.at(-1)!;
    });
    // At least one workgroup for each thread.
    while (workgroupsOf(outer) < threads) {
      const coarsest = outer.findIndex((tile, i) => tile > workgroups[i]![0]!);
      if (coarsest < 0) break;
      outer[coarsest] = workgroups[coarsest]!.findLast((tile) => tile < outer[coarsest]!)!;
    }
    const chosen = [...outer, ...inner];
    return Object.fromEntries(Object.keys(knobs).map((name, i) => [name, chosen[i]!]));
  };
  /** Whether the register tile takes more than half of the registers. Operands and constants need the others. */
  const isLarge = (start: Choice<string>) => {
    const tiles = dimensions.map((_, d) => start[`vector.${nameOf(d)}`]!);
    const vectors = tiles.reduce((n, tile, d) => n * (d === lane ? Math.ceil(tile / lanes) : tile), 1);
    return 2 * vectors > vectorRegisters;
  };
  const recipes = attention === null ? recipesFor(lanes, /transpose/.test(workload.name)) : ATTENTION(lanes);
  const all = recipes.map(startOf);
  const starts = isReduction ? all : all.toSorted((a, b) => Number(isLarge(a)) - Number(isLarge(b)));
  return spaceOfChoices({ kind: 'dispatch-tile', knobs, starts, at });
}

const isSummed = (parts: readonly DispatchPart[], dimension: number): boolean =>
  parts.some(({ loops, reduced }) => reduced.some((loop) => loops[loop] === dimension));

/** The nearest value that divides a size. */
function nearestDividing(values: readonly number[], wanted: number, dimension: DispatchDimension): number {
  const even = values.filter((one) => divides(one, dimension));
  return nearestByRatio(even, Math.min(wanted, dimension.size));
}

/** The same for the rows of a sum. Several rows at once are faster than one, even if the last ones are masked, as of a prime number of rows. */
function nearestRows(values: readonly number[], wanted: number, dimension: DispatchDimension): number {
  const even = nearestDividing(values, wanted, dimension);
  const isNear = 2 * even >= wanted && even <= 2 * wanted;
  return isNear || wanted === 1 ? even : nearestByRatio(values, Math.min(wanted, dimension.size));
}

/**
 * Elements of an operation in registers at once. Attention is two products: queries with keys, and weights with values. Each product
 * reduces a dimension that the other product keeps.
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
