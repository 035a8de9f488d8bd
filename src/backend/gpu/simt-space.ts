// The space of `TileAndFuse` without matrix instructions: each thread computes a tile by itself.
import type { SearchSpace } from '../../search/space.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import type { SimtTileConfiguration } from './configuration.ts';
import { legal, type Problem } from './legality.ts';
import { levelOf, stepsOf, type Along } from './roles.ts';
import { divisors, powers, sideOf } from './tiles.ts';

/** Elements of a workgroup, and of one thread. A short search tries no more than the first few. */
const RECIPES: readonly {
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
const VECTOR_RECIPES: typeof RECIPES = [
  { tile: [256, 256, 8], thread: [1, 1] },
  { tile: [128, 128, 4], thread: [4, 4] },
  { tile: [64, 64, 16], thread: [1, 1] },
  { tile: [256, 256, 16], thread: [2, 2] },
];

/** The space of configurations without matrix instructions. Pure. */
export function simtSpace(problem: Problem): SearchSpace<Configuration> {
  const { workload, roles, target } = problem;
  const { dimensions } = workload;
  const { outer, depth } = roles;
  const size = (d: number) => (d < 0 ? 1 : dimensions[d]!.size);
  const isVector = Math.min(size(roles.row), size(roles.column)) === 1;
  const isOuterOf = (along: 'row' | 'column') =>
    outer >= 0 && dimensions[outer]!.kind === dimensions[roles[along]]?.kind;
  const starts = (isVector ? VECTOR_RECIPES : RECIPES).map(({ tile, thread }) => {
    const [rows, columns] = (['row', 'column'] as const).map((along, side) => {
      const own = Math.min(thread[side]!, size(roles[along]));
      const fitting = 2 ** Math.ceil(Math.log2(size(roles[along]) / own));
      return {
        own,
        threads: sideOf(tile[side]! / own, tile[side]! / own, fitting, isOuterOf(along)),
      };
    });
    const beside = (isOuterOf('row') ? rows! : columns!).threads;
    return {
      ...{ 'thread.row': rows!.own, 'threads.row': rows!.threads.count },
      ...{ 'thread.column': columns!.own, 'threads.column': columns!.threads.count },
      ...{ 'thread.outer': beside.outerTile, 'threads.outer': beside.outerCount },
      ...{ depth: tile[2], promoted: Number(!isVector) },
    };
  });
  const tileOf = (c: SimtTileConfiguration, along: Along) => c.thread[roles[along]] ?? 1;
  const tiles = (along: Along, most: number) => ({
    values: [
      ...new Set([...powers(Math.min(most, size(roles[along]))), ...divisors(size(roles[along]), most)]),
    ].sort((a, b) => a - b),
    of: (c: SimtTileConfiguration) => tileOf(c, along),
    isInner: true,
  });
  const threads = (along: Along, most: number) => ({
    values: powers(most),
    of: (c: SimtTileConfiguration) => (c.workgroup[roles[along]] ?? 1) / tileOf(c, along),
  });
  return spaceOfChoices({
    kind: 'simt-tile',
    knobs: {
      'thread.row': tiles('row', 16),
      'thread.column': tiles('column', 16),
      'thread.outer': tiles('outer', 4),
      'threads.row': threads('row', Math.min(64, size(roles.row) * 2)),
      'threads.column': threads('column', Math.min(256, size(roles.column) * 2)),
      'threads.outer': threads('outer', Math.min(8, size(outer))),
      depth: { values: [4, 8, 16, 32, 64], of: ({ reduction }) => reduction[depth]! },
      promoted: { values: [0, 1], of: ({ promoted }) => Number(promoted) },
    },
    starts,
    at(choice) {
      const level = (of: (along: Along) => number) =>
        levelOf(problem, (_, along) => (along === null ? 1 : of(along)));
      return legal(problem, {
        version: 1,
        kind: 'simt-tile',
        subgroupSize: target.subgroupSizes[0]!,
        workgroup: level((along) => choice[`thread.${along}`] * choice[`threads.${along}`]),
        thread: level((along) => choice[`thread.${along}`]),
        reduction: stepsOf(problem, choice.depth),
        promoted: choice.promoted === 1,
        padded: false,
        igemm: roles.igemm,
      });
    },
  });
}
