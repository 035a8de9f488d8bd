// The spaces of contractions on CUDA and HIP. In `TileAndFuse` each subgroup computes a tile with matrix instructions, or each thread without
// them. In `VectorDistribute` threads share the sums of a product with a vector.
import type { SearchSpace } from '../../search/space.ts';
import { eitherSpace, spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import type { MmaTileConfiguration, SharedSumConfiguration, SimtTileConfiguration } from './configuration.ts';
import { illegality, legal, usableMmas, type Problem } from './legality.ts';
import { byRole, levelOf, sidesOf, stepsOf, type Along, type OfEachSide } from './roles.ts';
import { ascending } from '../../workload/sizes.ts';
import { divisors, powers } from '../tiles.ts';

/** Differences between the knobs of the GPU backends. A knob with one value is fixed. */
export interface Traits {
  /** Whether there are prefetch stages. */
  readonly hasStages: boolean;
  readonly prefetch: readonly number[];
  /** 0 stands for the compiler's choice. */
  readonly wavesPerEu: readonly number[];
  /** Bank padding of rows in shared memory: 0 or 1. */
  readonly bankPadding: readonly number[];
}

/** The search space. All its configurations compile and compute the right result. Pure. */
export function gpuSpace(problem: Problem, traits: Traits): SearchSpace<Configuration> {
  const sums = sumSpace(problem);
  // Kernels without matrix instructions are several times slower on GPUs with them.
  return sums === null
    ? (mmaSpace(problem, traits) ?? simtSpace(problem))
    : eitherSpace(sums, simtSpace(problem));
}

/** Value of `wavesPerEu` for the compiler's choice. */
const UNSET = 0;

/** Elements and subgroups of a workgroup. A short search tries the first few only. */
const MMA_RECIPES: readonly {
  readonly tile: readonly [rows: number, columns: number, depth: number];
  readonly subgroups: readonly [rows: number, columns: number];
}[] = [
  { tile: [64, 64, 128], subgroups: [2, 2] },
  { tile: [128, 128, 64], subgroups: [2, 2] },
  { tile: [64, 128, 128], subgroups: [2, 2] },
  { tile: [128, 128, 32], subgroups: [2, 2] },
  { tile: [64, 128, 64], subgroups: [2, 2] },
  { tile: [32, 64, 128], subgroups: [2, 2] },
  { tile: [32, 32, 128], subgroups: [2, 2] },
  { tile: [256, 128, 32], subgroups: [4, 2] },
  { tile: [128, 256, 32], subgroups: [2, 4] },
  { tile: [16, 64, 256], subgroups: [1, 4] },
];

/** Number of instructions that get starts. The compiler prefers the first instructions. */
const MOST_STARTED = 2;

/** The space of configurations with matrix instructions; null if no instruction fits. Pure. */
function mmaSpace(problem: Problem, traits: Traits): SearchSpace<Configuration> | null {
  const { workload, roles, target } = problem;
  const { dimensions } = workload;
  const { row, column, outer, depth } = roles;
  const mmas = usableMmas(workload, target);
  if (mmas.length === 0 || row < 0 || column < 0) return null;
  const outerSize = dimensions[outer]?.size ?? 1;
  const along = (level: 'subgroup' | 'subgroups', values: OfEachSide<readonly number[]>) =>
    byRole(level, (role) => ({
      values: values[role],
      of: (c: MmaTileConfiguration) => c[level][roles[role]] ?? 1,
      isInner: level === 'subgroup',
    }));
  return spaceOfChoices({
    kind: 'mma-tile',
    knobs: {
      mma: {
        values: [...mmas.keys()],
        of: (c) => mmas.findIndex(({ name }) => name === c.mma),
        isInner: true,
      },
      ...along('subgroup', { row: powers(8), column: powers(8), outer: divisors(outerSize, 1, 8) }),
      ...along('subgroups', { row: powers(8), column: powers(8), outer: powers(outer < 0 ? 1 : 4) }),
      depth: { values: powers(32), of: ({ reduction }) => reduction[depth]! },
      bankPadding: { values: traits.bankPadding, of: ({ bankPadding }) => Number(bankPadding) },
      prefetch: { values: traits.prefetch, of: ({ prefetch }) => prefetch ?? traits.prefetch[0]! },
      wavesPerEu: { values: traits.wavesPerEu, of: ({ wavesPerEu }) => wavesPerEu ?? UNSET },
    },
    starts: mmas.slice(0, MOST_STARTED).flatMap(({ m, n, k }, mma) =>
      MMA_RECIPES.map(({ tile, subgroups }) => {
        const sides = sidesOf(problem, [tile[0] / m, tile[1] / n], subgroups, [m, n]);
        return {
          ...{ mma, depth: tile[2] / k, bankPadding: 1, prefetch: 2 },
          ...byRole('subgroup', (role) => sides[role].tile),
          ...byRole('subgroups', (role) => sides[role].count),
        };
      }),
    ),
    at(choice) {
      const mma = mmas[choice.mma]!;
      const elements = { row: mma.m, column: mma.n, outer: 1 };
      return legal(problem, {
        version: 1,
        kind: 'mma-tile',
        mma: mma.name,
        subgroupSize: target.subgroupSizes[0]!,
        workgroup: levelOf(problem, (_, role) =>
          role === null ? 1 : choice[`subgroup.${role}`] * choice[`subgroups.${role}`] * elements[role],
        ),
        subgroup: levelOf(problem, (d, role) =>
          role === null ? Number(dimensions[d]!.kind !== 'batch') : choice[`subgroup.${role}`],
        ),
        subgroups: levelOf(problem, (_, role) => (role === null ? 1 : choice[`subgroups.${role}`])),
        reduction: stepsOf(problem, choice.depth),
        padded: false,
        igemm: roles.igemm,
        bankPadding: choice.bankPadding === 1,
        ...(traits.hasStages && { prefetch: choice.prefetch }),
        ...(choice.wavesPerEu !== UNSET && { wavesPerEu: choice.wavesPerEu }),
      });
    },
  });
}

/** Elements of a workgroup, and of one thread. A short search tries no more than the first few. */
const SIMT_RECIPES: readonly {
  readonly tile: readonly [rows: number, columns: number, depth: number];
  readonly thread: readonly [rows: number, columns: number];
}[] = [
  { tile: [64, 64, 16], thread: [8, 4] },
  { tile: [64, 64, 32], thread: [8, 4] },
  { tile: [64, 128, 16], thread: [4, 8] },
  { tile: [128, 128, 16], thread: [8, 8] },
  { tile: [32, 64, 32], thread: [4, 4] },
  { tile: [32, 32, 32], thread: [2, 4] },
  { tile: [16, 64, 32], thread: [2, 4] },
  { tile: [128, 64, 32], thread: [8, 4] },
];

/** Recipes for a product with a vector. Threads read the matrix once, without shared memory. */
const VECTOR_RECIPES: typeof SIMT_RECIPES = [
  { tile: [256, 256, 8], thread: [1, 1] },
  { tile: [128, 128, 4], thread: [4, 4] },
  { tile: [64, 64, 16], thread: [1, 1] },
  { tile: [256, 256, 16], thread: [2, 2] },
];

/** The space of configurations without matrix instructions. Pure. */
function simtSpace(problem: Problem): SearchSpace<Configuration> {
  const { workload, roles, target } = problem;
  const size = (role: Along) => workload.dimensions[roles[role]]?.size ?? 1;
  const isVector = Math.min(size('row'), size('column')) === 1;
  const threadOf = (c: SimtTileConfiguration, role: Along) => c.thread[roles[role]] ?? 1;
  const mostOfThread = { row: 16, column: 16, outer: 4 };
  const mostThreads = {
    row: Math.min(64, size('row') * 2),
    column: Math.min(256, size('column') * 2),
    outer: Math.min(8, size('outer')),
  };
  const tilesAlong = (role: Along) => {
    const most = mostOfThread[role];
    return ascending([...powers(Math.min(most, size(role))), ...divisors(size(role), 1, most)]);
  };
  return spaceOfChoices({
    kind: 'simt-tile',
    knobs: {
      ...byRole('thread', (role) => ({
        values: tilesAlong(role),
        of: (c: SimtTileConfiguration) => threadOf(c, role),
        isInner: true,
      })),
      ...byRole('threads', (role) => ({
        values: powers(mostThreads[role]),
        of: (c: SimtTileConfiguration) => (c.workgroup[roles[role]] ?? 1) / threadOf(c, role),
      })),
      depth: { values: [4, 8, 16, 32, 64], of: ({ reduction }) => reduction[roles.depth]! },
      promoted: { values: [0, 1], of: ({ promoted }) => Number(promoted) },
    },
    starts: (isVector ? VECTOR_RECIPES : SIMT_RECIPES).map(({ tile, thread }) => {
      const own = { row: Math.min(thread[0], size('row')), column: Math.min(thread[1], size('column')) };
      const threads = [tile[0] / own.row, tile[1] / own.column] as const;
      const sides = sidesOf(problem, threads, threads, [own.row, own.column]);
      return {
        ...byRole('thread', (role) => (role === 'outer' ? sides.outer.tile : own[role])),
        ...byRole('threads', (role) => sides[role].count),
        ...{ depth: tile[2], promoted: Number(!isVector) },
      };
    }),
    at(choice) {
      const level = (of: (role: Along) => number) =>
        levelOf(problem, (_, role) => (role === null ? 1 : of(role)));
      return legal(problem, {
        version: 1,
        kind: 'simt-tile',
        subgroupSize: target.subgroupSizes[0]!,
        workgroup: level((role) => choice[`thread.${role}`] * choice[`threads.${role}`]),
        thread: level((role) => choice[`thread.${role}`]),
        reduction: stepsOf(problem, choice.depth),
        promoted: choice.promoted === 1,
        padded: false,
        igemm: roles.igemm,
      });
    },
  });
}

/** Starts of `sumSpace`. */
const SUM_STARTS = [
  { lanes: 1, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 4, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 8, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 8, thread: 2, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 32, subgroups: 4, 'subgroups.depth': 1, thread: 1, 'thread.depth': 8, 'repeat.depth': 1 },
  { lanes: 4, subgroups: 1, 'subgroups.depth': 8, thread: 4, 'thread.depth': 4, 'repeat.depth': 1 },
  { lanes: 1, subgroups: 1, 'subgroups.depth': 1, thread: 1, 'thread.depth': 4, 'repeat.depth': 1 },
];

/** The space of configurations with shared sums; null unless the workload is a product with a vector. Pure. */
function sumSpace(problem: Problem): SearchSpace<Configuration> | null {
  const { workload, roles, target } = problem;
  const { dimensions } = workload;
  const { row, column, depth } = roles;
  const size = (d: number) => (d < 0 ? 1 : dimensions[d]!.size);
  if (roles.igemm || Math.min(size(row), size(column)) > 1) return null;
  // The dimension of the result with more than one element.
  const long = size(row) > size(column) ? row : column;
  const [subgroupSize] = target.subgroupSizes;
  const along = (own: number, summed: number) =>
    dimensions.map((_, d) => (d === long ? own : d === depth ? summed : 1));
  return spaceOfChoices({
    kind: 'shared-sum',
    knobs: {
      lanes: { values: powers(Math.min(32, size(long))), of: ({ lanes }) => lanes[long] ?? 1 },
      subgroups: { values: powers(8), of: ({ subgroups }) => subgroups[long] ?? 1 },
      'subgroups.depth': { values: powers(16), of: ({ subgroups }) => subgroups[depth]! },
      thread: { values: powers(8), of: ({ thread }) => thread[long] ?? 1, isInner: true },
      'thread.depth': { values: powers(8), of: ({ thread }) => thread[depth]!, isInner: true },
      'repeat.depth': {
        values: powers(4),
        of: ({ reduction, lanes, subgroups, thread }) =>
          reduction[depth]! / (lanes[depth]! * subgroups[depth]! * thread[depth]!),
      },
    },
    starts: SUM_STARTS,
    at(choice) {
      const { lanes, subgroups, thread } = choice;
      const summed = subgroupSize! / lanes;
      const configuration: SharedSumConfiguration = {
        version: 1,
        kind: 'shared-sum',
        subgroupSize: subgroupSize!,
        workgroup: dimensions.map(({ kind }, d) =>
          kind === 'k' ? 0 : d === long ? lanes * subgroups * thread : 1,
        ),
        reduction: stepsOf(
          problem,
          summed * choice['subgroups.depth'] * choice['thread.depth'] * choice['repeat.depth'],
        ),
        thread: along(thread, choice['thread.depth']),
        lanes: along(lanes, summed),
        subgroups: along(subgroups, choice['subgroups.depth']),
      };
      return illegality(problem, configuration) ?? configuration;
    },
  });
}
