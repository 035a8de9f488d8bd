// The search space of the ConvTileAndDecomposeExpert pipeline. The pipeline vectorises only tiles without remainder. The compiler's own
// tiles are the same for all sizes, and lose most there.
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { nearestByRatio } from '../../search/nearest.ts';
import { legalPoints, pointWith, type Knob, type Point, type SearchSpace } from '../../search/space.ts';
import type { SpaceOptions } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { LARGEST_TILE } from '../schema.ts';
import type { WindowTileConfiguration } from './configuration.ts';
import { elementsPerVector, vectorTileLimit } from './legality.ts';
import { divisors } from './tile-sizes.ts';

/** The dimensions with tiles of more than one element. */
interface Roles {
  /** Rows of the image; a register tile has one. */
  readonly row: number;
  /** Columns of the image: the rows of the register tile. */
  readonly column: number;
  /** Channels of the result: the dimension of vectors. */
  readonly lane: number;
  /** Reduced channels; null for a depthwise convolution. */
  readonly depth: number | null;
}

function rolesOf({ accumulator, dimensions, windows = [] }: OperationWork): Roles {
  const [, row, column, lane] = accumulator.dimensions;
  const inside = new Set(windows.map(([, filter]) => filter));
  const depth = dimensions.findIndex(({ kind }, d) => kind === 'k' && !inside.has(d));
  return { row: row!, column: column!, lane: lane!, depth: depth < 0 ? null : depth };
}

/** Most rows of accumulators. More rows than registers serve sizes without smaller divisors. */
const MOST_ROWS = 32;
/** Most vectors of one register tile. */
const MOST_LANES = 8;
const MOST_DEPTH = 16;

/** Knobs in the order of a point. */
const KNOBS = [
  'distribution.row',
  'distribution.column',
  'distribution.lane',
  'rows',
  'lanes',
  'depth',
] as const;

type Choice = Readonly<Record<(typeof KNOBS)[number], number>>;

/**
 * Preferences for one start: register tiles in rows, vectors and elements of the reduction; workgroup tiles in elements. A short search
 * tries the first few only.
 */
const RECIPES: readonly {
  rows: number;
  vectors: number;
  depth: number;
  workgroup: readonly [number, number, number];
}[] = [
  { rows: 6, vectors: 2, depth: 8, workgroup: [1, 64, 256] },
  { rows: 12, vectors: 1, depth: 4, workgroup: [1, 64, 256] },
  { rows: 4, vectors: 4, depth: 4, workgroup: [1, 64, 256] },
  { rows: 6, vectors: 2, depth: 1, workgroup: [1, 64, 256] },
  { rows: 6, vectors: 2, depth: 4, workgroup: [4, 64, 64] },
  { rows: 8, vectors: 2, depth: 4, workgroup: [8, 64, 128] },
  // Reads a filter larger than the caches once for a whole image.
  { rows: 8, vectors: 2, depth: 4, workgroup: [16, 64, 32] },
  { rows: 1, vectors: 8, depth: 8, workgroup: [1, 64, 256] },
  { rows: 16, vectors: 1, depth: 1, workgroup: [2, 64, 32] },
  // The first recipe of depthwise convolutions.
  { rows: 4, vectors: 2, depth: 1, workgroup: [16, 64, 32] },
];

/** The search space of a convolution. All its configurations compile. */
export function windowSpace(
  workload: OperationWork,
  { nativeVectorBytes, threads }: Omit<SpaceOptions, 'following'>,
): SearchSpace<Configuration> {
  const { dimensions, accumulator } = workload;
  const roles = rolesOf(workload);
  const size = (d: number) => dimensions[d]!.size;
  const perVector = elementsPerVector(accumulator.elementType, { nativeVectorBytes });
  const whole = (d: number) => divisors(size(d), 1, LARGEST_TILE);
  const narrow = divisors(size(roles.lane), 1, MOST_LANES * perVector);
  const wide = narrow.filter((tile) => tile % perVector === 0);
  // The compiler generates scalar code for three or five vectors of a depthwise convolution, at a tenth of the default's speed.
  const inVectors = roles.depth === null ? wide.filter((tile) => isPowerOfTwo(tile / perVector)) : wide;
  const values: Readonly<Record<(typeof KNOBS)[number], readonly number[]>> = {
    'distribution.row': whole(roles.row),
    'distribution.column': whole(roles.column),
    'distribution.lane': whole(roles.lane),
    rows: divisors(size(roles.column), 1, MOST_ROWS),
    // Partial vectors only if no whole vectors divide the dimension.
    lanes: inVectors.length > 0 ? inVectors : narrow,
    depth: roles.depth === null ? [0] : divisors(size(roles.depth), 1, MOST_DEPTH),
  };
  const knobs: Knob[] = KNOBS.map((name) => ({
    ...{ name, values: values[name], isInner: !name.startsWith('distribution.') },
  }));
  const configurationAt = (point: Point): Configuration | null => {
    const choice = Object.fromEntries(KNOBS.map((name, i) => [name, values[name][point[i]!]!])) as Choice;
    return isLegal(choice, nativeVectorBytes, elementBits(accumulator.elementType))
      ? configurationOf(workload, roles, choice)
      : null;
  };
  const workgroups = (point: Point) =>
    [roles.row, roles.column, roles.lane].reduce(
      (count, d, i) => count * (size(d) / values[KNOBS[i]!][point[i]!]!),
      1,
    );
  const startOf = ({ rows, vectors, depth, workgroup }: (typeof RECIPES)[number]): Point => {
    const tile = [rows, vectors * perVector, depth];
    const wanted = [...workgroup.map((one, i) => (i === 0 ? one : Math.max(one, tile[i - 1]!))), ...tile];
    const point = KNOBS.map((name, i) => nearestByRatio(values[name], wanted[i]!));
    // A workgroup has whole register tiles.
    for (const [outer, inner] of [
      [1, 3],
      [2, 4],
    ] as const) {
      const least = values[KNOBS[inner]][point[inner]!]!;
      const all = values[KNOBS[outer]];
      while (all[point[outer]!]! % least !== 0) point[outer]!++;
    }
    while (workgroups(point) < threads && point[0]! > 0) point[0]!--;
    return point;
  };
  const valuesOf = (configuration: Configuration) => {
    if (configuration.kind !== 'window-tile') return null;
    const choice = choiceOf(configuration, roles);
    return KNOBS.map((name) => choice[name]);
  };
  const recipes = roles.depth === null ? [RECIPES.at(-1)!, ...RECIPES] : RECIPES;
  return {
    knobs,
    starts: legalPoints(recipes.map(startOf), configurationAt),
    alternatives: [],
    configurationAt,
    pointOf: (configuration) => pointWith(knobs, valuesOf(configuration)),
    valuesOf,
  };
}

/** Whether tiles leave no remainder, and the compiler accepts the vectors. */
const isLegal = (choice: Choice, nativeVectorBytes: number, bits: number): boolean =>
  choice['distribution.column'] % choice.rows === 0 &&
  choice['distribution.lane'] % choice.lanes === 0 &&
  (choice.rows * choice.lanes * Math.max(1, choice.depth) * bits) / 8 <
    vectorTileLimit({ nativeVectorBytes });

function configurationOf(
  { dimensions }: OperationWork,
  roles: Roles,
  choice: Choice,
): WindowTileConfiguration {
  const tiles = (own: ReadonlyMap<number, number>, isReduced: boolean, others: number) =>
    dimensions.map(({ kind }, d) => ((kind === 'k') === isReduced ? (own.get(d) ?? others) : 0));
  const { row, column, lane, depth } = roles;
  const workgroup = new Map([
    [row, choice['distribution.row']],
    [column, choice['distribution.column']],
    [lane, choice['distribution.lane']],
  ]);
  const registers = new Map([
    [column, choice.rows],
    [lane, choice.lanes],
  ]);
  return {
    version: 1,
    kind: 'window-tile',
    distribution: tiles(workgroup, false, 1),
    vectorCommonParallel: tiles(registers, false, 1),
    vectorReduction: tiles(new Map(depth === null ? [] : [[depth, choice.depth]]), true, 1),
  };
}

/** The inverse of `configurationOf`. */
const choiceOf = (
  { distribution, vectorCommonParallel, vectorReduction }: WindowTileConfiguration,
  { row, column, lane, depth }: Roles,
): Choice => ({
  'distribution.row': distribution[row] ?? 0,
  'distribution.column': distribution[column] ?? 0,
  'distribution.lane': distribution[lane] ?? 0,
  rows: vectorCommonParallel[column] ?? 0,
  lanes: vectorCommonParallel[lane] ?? 0,
  depth: depth === null ? 0 : (vectorReduction[depth] ?? 0),
});

const isPowerOfTwo = (value: number) => (value & (value - 1)) === 0;
