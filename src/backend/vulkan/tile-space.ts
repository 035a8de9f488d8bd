// The search space of `BaseVectorize`: register tiles of threads, and threads of a workgroup along each dimension. Tiles leave no remainder:
// see legality.ts.
import { nearestByRatio, type SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { spaceOfChoices, type Choice, type NamedKnob } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { divisors } from '../tiles.ts';
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

const PARALLEL = ['lane', 'row', 'image'] as const;

function rolesOf({ accumulator, dimensions, windows = [] }: OperationWork): Roles {
  const image = windows[0]?.[0] ?? -1;
  const [lane = -1, row = -1] = accumulator.dimensions.filter((d) => d !== image).toReversed();
  const inside = new Set(windows.map(([, within]) => within));
  const depth = dimensions.findLastIndex(({ kind }, d) => kind === 'k' && !inside.has(d));
  return { lane, row, image, depth };
}

/** The largest values of the knobs: threads of a workgroup, and elements of a thread or of a step. */
const MOST = {
  'threads.lane': 256,
  'threads.row': 64,
  'threads.image': 8,
  'tile.lane': 32,
  'tile.row': 16,
  'tile.image': 4,
  'tile.depth': 32,
};

type Name = keyof typeof MOST;
const NAMES = Object.keys(MOST) as Name[];

const byName = <T>(of: (name: Name, i: number) => T) =>
  Object.fromEntries(NAMES.map((name, i) => [name, of(name, i)])) as Record<Name, T>;

/** A dimension of prime size may be one tile, up to this size. */
const MOST_WHOLE = 128;

/** Promising choices, best guess first; each value is that of the knob in `MOST`. */
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

export function tileSpace(workload: OperationWork, target: GpuTarget): SearchSpace<Configuration> {
  const { dimensions, windows } = workload;
  const roles = rolesOf(workload);
  const sizeAlong = (role: keyof Roles) => dimensions[roles[role]]?.size ?? 1;
  const knobOf = (name: Name): NamedKnob<'spirv-tile'> => {
    const [level, role] = name.split('.') as ['threads' | 'tile', keyof Roles];
    const d = roles[role];
    const size = sizeAlong(role);
    const values = divisors(size, 1, MOST[name]);
    if (level === 'threads')
      return { values, of: ({ workgroup, thread }) => (workgroup[d] ?? 1) / (thread[d] ?? 1) };
    return {
      values: values.length === 1 && size <= MOST_WHOLE ? [1, size] : values,
      of: ({ thread, reduction }) => (role === 'depth' ? reduction : thread)[d] ?? 1,
      isInner: true,
    };
  };
  const knobs = byName(knobOf);
  const startOf = (recipe: readonly number[]): Choice<Name> => {
    const choice = byName((name, i) => nearestByRatio(knobs[name].values, recipe[i]!));
    // The register tile goes first. The largest fitting number of threads divides the rest.
    for (const role of PARALLEL) {
      const rest = sizeAlong(role) / choice[`tile.${role}`];
      const most = choice[`threads.${role}`];
      choice[`threads.${role}`] = knobs[`threads.${role}`].values.findLast(
        (count) => count <= most && rest % count === 0,
      )!;
    }
    return choice;
  };
  const isImage = windows?.some(([along]) => along === roles.lane) === true;
  return spaceOfChoices({
    kind: 'spirv-tile',
    knobs,
    starts: (isImage ? [...IMAGE_RECIPES, ...RECIPES] : RECIPES).map(startOf),
    at(choice) {
      const along = (of: (role: (typeof PARALLEL)[number]) => number) =>
        dimensions.map(({ kind }, d) => {
          const role = PARALLEL.find((one) => roles[one] === d);
          return kind === 'k' ? 0 : role === undefined ? 1 : of(role);
        });
      const c: SpirvTileConfiguration = {
        version: 1,
        kind: 'spirv-tile',
        workgroup: along((role) => choice[`tile.${role}`] * choice[`threads.${role}`]),
        thread: along((role) => choice[`tile.${role}`]),
        reduction: dimensions.map(({ kind }, d) =>
          kind !== 'k' ? 0 : d === roles.depth ? choice['tile.depth'] : 1,
        ),
        ...(windows && { window: dimensions.map((_, d) => (d === roles.image ? 1 : 0)) }),
      };
      return illegality(workload, c, target) ?? c;
    },
  });
}
