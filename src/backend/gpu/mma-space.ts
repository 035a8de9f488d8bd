// The space of `TileAndFuse` with matrix instructions.
import type { SearchSpace } from '../../search/space.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import type { MmaTileConfiguration } from './configuration.ts';
import { legal, usableMmas, type Problem } from './legality.ts';
import { levelOf, stepsOf, type Along } from './roles.ts';
import { divisors, powers, sideOf } from './tiles.ts';

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

/** Value of `wavesPerEu` for the compiler's choice. */
const UNSET = 0;

/** Elements and subgroups of a workgroup. A short search tries the first few only. */
const RECIPES: readonly {
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
export function mmaSpace(problem: Problem, traits: Traits): SearchSpace<Configuration> | null {
  const { workload, roles, target } = problem;
  const { dimensions } = workload;
  const { row, column, outer, depth } = roles;
  const mmas = usableMmas(workload, target);
  if (mmas.length === 0 || row < 0 || column < 0) return null;
  const size = (d: number) => dimensions[d]!.size;
  const level = (of: (d: number, along: Along | null) => number) => levelOf(problem, of);
  const isOuterOf = (d: number) => outer >= 0 && dimensions[outer]!.kind === dimensions[d]!.kind;
  const starts = mmas.slice(0, MOST_STARTED).flatMap((mma, i) =>
    RECIPES.map(({ tile, subgroups }) => {
      const [rows, columns] = [
        [row, mma.m],
        [column, mma.n],
      ].map(([d, along], side) =>
        sideOf(
          tile[side]! / along!,
          subgroups[side]!,
          2 ** Math.ceil(Math.log2(size(d!) / along!)),
          isOuterOf(d!),
        ),
      );
      const beside = isOuterOf(row) ? rows! : columns!;
      return {
        ...{ mma: i, depth: tile[2] / mma.k, bankPadding: 1, prefetch: 2 },
        ...{ 'subgroup.row': rows!.tile, 'subgroups.row': rows!.count },
        ...{ 'subgroup.column': columns!.tile, 'subgroups.column': columns!.count },
        ...{ 'subgroup.outer': beside.outerTile, 'subgroups.outer': beside.outerCount },
      };
    }),
  );
  const along = (level: 'subgroup' | 'subgroups', d: number, values: readonly number[]) => ({
    values,
    of: (c: MmaTileConfiguration) => c[level][d] ?? 1,
    isInner: level === 'subgroup',
  });
  return spaceOfChoices({
    kind: 'mma-tile',
    knobs: {
      mma: {
        values: [...mmas.keys()],
        of: (c) => mmas.findIndex(({ name }) => name === c.mma),
        isInner: true,
      },
      'subgroup.row': along('subgroup', row, powers(8)),
      'subgroup.column': along('subgroup', column, powers(8)),
      'subgroup.outer': along('subgroup', outer, outer < 0 ? [1] : divisors(size(outer), 8)),
      'subgroups.row': along('subgroups', row, powers(8)),
      'subgroups.column': along('subgroups', column, powers(8)),
      'subgroups.outer': along('subgroups', outer, outer < 0 ? [1] : powers(4)),
      depth: { values: powers(32), of: ({ reduction }) => reduction[depth]! },
      bankPadding: { values: traits.bankPadding, of: ({ bankPadding }) => Number(bankPadding) },
      prefetch: { values: traits.prefetch, of: ({ prefetch }) => prefetch ?? traits.prefetch[0]! },
      wavesPerEu: { values: traits.wavesPerEu, of: ({ wavesPerEu }) => wavesPerEu ?? UNSET },
    },
    starts,
    at(choice) {
      const mma = mmas[choice.mma]!;
      const elements: Readonly<Record<Along, number>> = { row: mma.m, column: mma.n, outer: 1 };
      return legal(problem, {
        version: 1,
        kind: 'mma-tile',
        mma: mma.name,
        subgroupSize: target.subgroupSizes[0]!,
        workgroup: level((_, along) =>
          along === null ? 1 : choice[`subgroup.${along}`] * choice[`subgroups.${along}`] * elements[along],
        ),
        subgroup: level((d, along) =>
          along === null ? Number(dimensions[d]!.kind !== 'batch') : choice[`subgroup.${along}`],
        ),
        subgroups: level((_, along) => (along === null ? 1 : choice[`subgroups.${along}`])),
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
