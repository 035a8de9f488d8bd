// The space of `TileAndFuse` without matrix instructions: each thread computes a tile by itself.
import type { SearchSpace } from '../../search/space.ts';
import { spaceOfChoices, type Choice } from './choices.ts';
import type { GpuConfiguration } from './configuration.ts';
import { legal, type Problem } from './legality.ts';
import { levelOf, type Along } from './roles.ts';
import { divisors, powers, sideOf } from './tiles.ts';

type Name = `thread.${Along}` | `threads.${Along}` | 'depth' | 'promoted';

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
export function simtSpace(problem: Problem): SearchSpace<GpuConfiguration> {
  const { workload, roles, target } = problem;
  const { dimensions } = workload;
  const { outer, depth } = roles;
  const size = (d: number) => (d < 0 ? 1 : dimensions[d]!.size);
  const isVector = Math.min(size(roles.row), size(roles.column)) === 1;
  const threadTiles = (along: Along, most: number) =>
    [...new Set([...powers(Math.min(most, size(roles[along]))), ...divisors(size(roles[along]), most)])].sort(
      (a, b) => a - b,
    );
  const isOuterOf = (along: 'row' | 'column') =>
    outer >= 0 && dimensions[outer]!.kind === dimensions[roles[along]]?.kind;
  const starts = (isVector ? VECTOR_RECIPES : RECIPES).map(({ tile, thread }): Partial<Choice<Name>> => {
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
  return spaceOfChoices<Name, GpuConfiguration>({
    values: {
      'thread.row': threadTiles('row', 16),
      'thread.column': threadTiles('column', 16),
      'thread.outer': threadTiles('outer', 4),
      'threads.row': powers(Math.min(64, size(roles.row) * 2)),
      'threads.column': powers(Math.min(256, size(roles.column) * 2)),
      'threads.outer': powers(Math.min(8, size(outer))),
      depth: [4, 8, 16, 32, 64],
      promoted: [0, 1],
    },
    isInner: (name) => name.startsWith('thread.'),
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
        reduction: dimensions.map(({ kind }, d) =>
          kind !== 'k' ? 0 : d === depth ? choice.depth : Number(!roles.igemm),
        ),
        promoted: choice.promoted === 1,
        padded: false,
        igemm: roles.igemm,
      });
    },
    choiceOf(c) {
      if (c.kind !== 'simt-tile' || c.workgroup.length !== dimensions.length) return null;
      const thread = (along: Along) => c.thread[roles[along]] ?? 1;
      const threads = (along: Along) => (c.workgroup[roles[along]] ?? 1) / thread(along);
      return {
        ...{ 'thread.row': thread('row'), 'threads.row': threads('row') },
        ...{ 'thread.column': thread('column'), 'threads.column': threads('column') },
        ...{ 'thread.outer': thread('outer'), 'threads.outer': threads('outer') },
        ...{ depth: c.reduction[depth]!, promoted: Number(c.promoted) },
      };
    },
  });
}
