// The configurations of `TileAndFuse` by a user's knobs. Operands are padded where tiles leave a remainder. Pure.
import { isOfSchema } from '../schema.ts';
import {
  SCHEMA,
  type GpuConfiguration,
  type MmaTileConfiguration,
  type SimtTileConfiguration,
} from './configuration.ts';
import { illegality, legal, usableMmas, type Problem } from './legality.ts';
import type { Traits } from './mma-space.ts';
import { matmulLevel, stepsOf } from './roles.ts';
import { readMma, type Mma } from './target.ts';
import { powers } from './tiles.ts';
import { familyOf, NOT_WHOLE, type UserFamily } from './user-space.ts';

/** Knobs of every pipeline but the threads. */
const common = ({ roles: { row, column } }: Problem) => ({
  workgroup_m: { values: powers(256).slice(4), of: ({ workgroup }: GpuConfiguration) => workgroup[row]! },
  workgroup_n: { values: powers(256).slice(4), of: ({ workgroup }: GpuConfiguration) => workgroup[column]! },
});

/** Steps along k. */
const STEPS = powers(256).slice(2);

/** The family with matrix instructions if the GPU has one for the types. */
export function userFamily(problem: Problem, traits: Traits): UserFamily {
  const mmas = usableMmas(problem.workload, problem.target);
  return mmas.length > 0 ? mmaFamily(problem, traits, mmas) : simtFamily(problem);
}

function mmaFamily(problem: Problem, traits: Traits, mmas: readonly Mma[]): UserFamily {
  const { row, column, depth, igemm } = problem.roles;
  const subgroupSize = problem.target.subgroupSizes[0]!;
  return familyOf({
    kind: 'mma-tile',
    knobs: {
      ...common(problem),
      summed_k: { values: STEPS, of: ({ reduction, mma }) => reduction[depth]! * (readMma(mma)?.k ?? 1) },
      threads_m: { values: powers(8), of: ({ subgroups }) => subgroups[row]!, isInner: true },
      threads_n: {
        values: powers(8).map((count) => count * subgroupSize),
        of: ({ subgroups }) => subgroups[column]! * subgroupSize,
        isInner: true,
      },
      pipeline: {
        values: [...mmas.keys()],
        of: ({ mma }) => mmas.findIndex(({ name }) => name === mma),
      },
      prefetch: { values: traits.prefetch, of: ({ prefetch }) => prefetch ?? traits.prefetch[0]! },
    },
    at({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n, pipeline, prefetch }) {
      const { name, m, n, k } = mmas[pipeline]!;
      const columns = threads_n / subgroupSize;
      if (!traits.prefetch.includes(prefetch)) return `prefetch is none of ${traits.prefetch.join(', ')}`;
      return checked(problem, {
        ...{ version: 1, kind: 'mma-tile', mma: name, subgroupSize, igemm, padded: false },
        workgroup: matmulLevel(problem, workgroup_m, workgroup_n),
        subgroup: matmulLevel(problem, workgroup_m / threads_m / m, workgroup_n / columns / n),
        subgroups: matmulLevel(problem, threads_m, columns),
        reduction: stepsOf(problem, summed_k / k),
        bankPadding: traits.bankPadding.includes(1),
        ...(traits.hasStages && { prefetch }),
      });
    },
  });
}

function simtFamily(problem: Problem): UserFamily {
  const { row, column, depth, igemm } = problem.roles;
  const subgroupSize = problem.target.subgroupSizes[0]!;
  const threads = (d: number, most: number) => ({
    values: powers(most),
    of: ({ workgroup, thread }: SimtTileConfiguration) => workgroup[d]! / thread[d]!,
    isInner: true,
  });
  return familyOf({
    kind: 'simt-tile',
    knobs: {
      ...common(problem),
      summed_k: { values: STEPS, of: ({ reduction }) => reduction[depth]! },
      ...{ threads_m: threads(row, 64), threads_n: threads(column, 256) },
      // Whether operands go through shared memory.
      pipeline: { values: [0, 1], of: ({ promoted }) => Number(promoted) },
      prefetch: { values: [0], of: () => 0 },
    },
    at: ({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n, pipeline }) =>
      checked(problem, {
        ...{ version: 1, kind: 'simt-tile', subgroupSize, igemm, padded: false, promoted: pipeline === 1 },
        workgroup: matmulLevel(problem, workgroup_m, workgroup_n),
        thread: matmulLevel(problem, workgroup_m / threads_m, workgroup_n / threads_n),
        reduction: stepsOf(problem, summed_k),
      }),
  });
}

/** The configuration, with padding if necessary, or the broken rule. */
function checked<C extends MmaTileConfiguration | SimtTileConfiguration>(problem: Problem, c: C): C | string {
  const found = legal(problem, c);
  if (found === null) return illegality(problem, { ...c, padded: true })!;
  return isOfSchema(SCHEMA, found) ? found : NOT_WHOLE;
}
