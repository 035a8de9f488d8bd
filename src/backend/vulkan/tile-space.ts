// The search space of `BaseVectorize`: register tiles of threads, and threads of a workgroup along each dimension. Tiles leave no remainder:
// see legality.ts.
import { nearestByRatio } from '../../search/nearest.ts';
import { legalPoints, pointWith, type Knob, type Point, type SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { Configuration } from '../configuration.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { divisors } from '../gpu/tiles.ts';
import type { SpirvTileConfiguration } from './configuration.ts';
import { illegality } from './legality.ts';

/** The dimensions that have tiles of more than one element. */
interface Roles {
  /** The innermost dimension of the result: threads along x. */
  readonly lane: number;
  /** The next outer dimension of the result, rows of an image aside: threads along y. -1 for none. */
  readonly row: number;
  /** The rows of an image that a filter moves over: threads along z where the channels are innermost. -1 for none. */
  readonly image: number;
  /** The innermost reduction dimension outside of a filter, summed in steps. */
  readonly depth: number;
}

function rolesOf({ accumulator, dimensions, windows = [] }: OperationWork): Roles {
  const image = windows[0]?.[0] ?? -1;
  const [lane = -1, row = -1] = accumulator.dimensions.filter((d) => d !== image).toReversed();
  const inside = new Set(windows.map(([, within]) => within));
  const depth = dimensions.findLastIndex(({ kind }, d) => kind === 'k' && !inside.has(d));
  return { lane, row, image, depth };
}

const KNOBS = [
  'threads.lane',
  'threads.row',
  'threads.image',
  'tile.lane',
  'tile.row',
  'tile.image',
  'tile.depth',
] as const;

type Name = (typeof KNOBS)[number];
type Choice = Readonly<Record<Name, number>>;

/** Largest values of the knobs. A dimension of prime size may be one tile, up to `MOST_WHOLE`. */
const MOST: Choice = {
  'threads.lane': 256,
  'threads.row': 64,
  'threads.image': 8,
  'tile.lane': 32,
  'tile.row': 16,
  'tile.image': 4,
  'tile.depth': 32,
};
const MOST_WHOLE = 128;

/** Promising choices, best guess first; each value is that of the knob in `KNOBS`. */
const RECIPES: readonly (readonly number[])[] = [
  [32, 4, 1, 4, 8, 1, 4],
  [32, 2, 1, 8, 8, 1, 4],
  [8, 4, 1, 8, 8, 1, 4],
  [16, 8, 1, 4, 4, 1, 4],
  [64, 1, 1, 4, 1, 1, 4],
  [8, 8, 1, 4, 8, 1, 8],
  [16, 1, 2, 4, 4, 2, 4],
  [8, 2, 1, 16, 4, 1, 4],
  [32, 8, 1, 4, 4, 1, 1],
  [16, 16, 1, 4, 4, 1, 16],
];

/** Recipes for convolutions with the channels first: lanes are columns of an image. */
const IMAGE_RECIPES: typeof RECIPES = [
  [16, 4, 2, 1, 8, 4, 4],
  [16, 1, 1, 1, 4, 4, 4],
  [4, 4, 4, 4, 8, 1, 4],
  [16, 2, 2, 1, 8, 1, 4],
  [8, 2, 8, 4, 8, 1, 4],
  [16, 2, 4, 1, 4, 4, 4],
];

/** The search space. All its configurations compile and compute the right result. */
export function tileSpace(workload: OperationWork, target: GpuTarget): SearchSpace<Configuration> {
  const { dimensions } = workload;
  const roles = rolesOf(workload);
  const roleOf = (name: Name) => name.split('.')[1] as keyof Roles;
  const sizeOf = (name: Name) => dimensions[roles[roleOf(name)]]?.size ?? 1;
  const values = Object.fromEntries(
    KNOBS.map((name) => {
      const size = sizeOf(name);
      const all = divisors(size, MOST[name]);
      return [name, name.startsWith('tile.') && all.length === 1 && size <= MOST_WHOLE ? [1, size] : all];
    }),
  ) as Record<Name, number[]>;
  const knobs = KNOBS.map((name): Knob => ({
    ...{ name, values: values[name], isInner: name.startsWith('tile.') },
  }));
  const configurationAt = (point: Point): Configuration | null => {
    const choice = Object.fromEntries(KNOBS.map((name, i) => [name, values[name][point[i]!]!])) as Choice;
    const configuration = configurationOf(workload, roles, choice);
    return illegality(workload, configuration, target) === null ? configuration : null;
  };
  const startOf = (recipe: readonly number[]): Point => {
    const point = KNOBS.map((name, i) => nearestByRatio(values[name], recipe[i]!));
    // The register tile goes first. The largest fitting number of threads divides the rest.
    for (const [threads, tile] of [
      [0, 3],
      [1, 4],
      [2, 5],
    ] as const) {
      const rest = sizeOf(KNOBS[tile]) / values[KNOBS[tile]][point[tile]!]!;
      while (rest % values[KNOBS[threads]][point[threads]!]! !== 0) point[threads]!--;
    }
    return point;
  };
  const isImage = workload.windows?.some(([along]) => along === roles.lane) === true;
  const recipes = isImage ? [...IMAGE_RECIPES, ...RECIPES] : RECIPES;
  const valuesOf = (configuration: Configuration) => {
    if (configuration.kind !== 'spirv-tile') return null;
    const choice = choiceOf(configuration, roles);
    return KNOBS.map((name) => choice[name]);
  };
  return {
    knobs,
    starts: legalPoints(recipes.map(startOf), configurationAt),
    alternatives: [],
    configurationAt,
    pointOf: (configuration) => pointWith(knobs, valuesOf(configuration)),
    valuesOf,
  };
}

function configurationOf(
  { dimensions, windows }: OperationWork,
  { lane, row, image, depth }: Roles,
  choice: Choice,
): SpirvTileConfiguration {
  const tile = new Map([
    [image, choice['tile.image']],
    [row, choice['tile.row']],
    [lane, choice['tile.lane']],
  ]);
  const threads = new Map([
    [image, choice['threads.image']],
    [row, choice['threads.row']],
    [lane, choice['threads.lane']],
  ]);
  const each = (of: (d: number) => number, isReduced: boolean) =>
    dimensions.map(({ kind }, d) => ((kind === 'k') === isReduced ? of(d) : 0));
  return {
    version: 1,
    kind: 'spirv-tile',
    workgroup: each((d) => (tile.get(d) ?? 1) * (threads.get(d) ?? 1), false),
    thread: each((d) => tile.get(d) ?? 1, false),
    reduction: each((d) => (d === depth ? choice['tile.depth'] : 1), true),
    ...(windows && { window: dimensions.map((_, d) => (d === image ? 1 : 0)) }),
  };
}

/** The inverse of `configurationOf`. */
function choiceOf({ workgroup, thread, reduction }: SpirvTileConfiguration, roles: Roles): Choice {
  const tile = (d: number) => thread[d] ?? 1;
  const threads = (d: number) => (workgroup[d] ?? 1) / tile(d);
  return {
    'threads.lane': threads(roles.lane),
    'threads.row': threads(roles.row),
    'threads.image': threads(roles.image),
    'tile.lane': tile(roles.lane),
    'tile.row': tile(roles.row),
    'tile.image': tile(roles.image),
    'tile.depth': reduction[roles.depth] ?? 1,
  };
}
