// The configurations of `TileAndFuse` by a user's knobs. Operands are padded where tiles leave a remainder. Pure.
import { isOfSchema } from '../schema.ts';
import type { GpuConfiguration, MmaTileConfiguration, SimtTileConfiguration } from './configuration.ts';
import { illegality, legal, usableMmas, type Problem } from './legality.ts';
import { matmulLevel } from './roles.ts';
import { SCHEMA } from './schema.ts';
import type { Mma } from './target.ts';
import { powers } from './tiles.ts';
import type { Traits } from './traits.ts';
import { NOT_WHOLE, type UserFamily } from './user-space.ts';

/** `pipeline` is the index of a matrix instruction; without one, whether operands go through shared memory. */
type Family = UserFamily<'pipeline' | 'prefetch', GpuConfiguration>;

const TILES = {
  workgroup_m: powers(256).slice(4),
  workgroup_n: powers(256).slice(4),
  summed_k: powers(256).slice(2),
};

/** The family with matrix instructions if the GPU has one for the types. */
export function userFamily(problem: Problem, traits: Traits): Family {
  const mmas = usableMmas(problem.workload, problem.target);
  return mmas.length > 0 ? mmaFamily(problem, traits, mmas) : simtFamily(problem);
}

function mmaFamily(problem: Problem, traits: Traits, mmas: readonly Mma[]): Family {
  const { row, column, depth, igemm } = problem.roles;
  const subgroupSize = problem.target.subgroupSizes[0]!;
  return {
    values: {
      ...{ ...TILES, threads_m: powers(8), threads_n: powers(8).map((count) => count * subgroupSize) },
      ...{ pipeline: mmas.map((_, i) => i), prefetch: traits.prefetch },
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
        reduction: summed(problem, summed_k / k),
        bankPadding: traits.bankPadding.includes(1),
        ...(traits.hasStages && { prefetch }),
      });
    },
    choiceOf(c) {
      if (c.kind !== 'mma-tile') return null;
      const pipeline = mmas.findIndex(({ name }) => name === c.mma);
      return {
        ...{ workgroup_m: c.workgroup[row]!, workgroup_n: c.workgroup[column]! },
        ...{ threads_m: c.subgroups[row]!, threads_n: c.subgroups[column]! * subgroupSize },
        summed_k: c.reduction[depth]! * (mmas[pipeline]?.k ?? 1),
        ...{ pipeline, prefetch: c.prefetch ?? traits.prefetch[0]! },
      };
    },
  };
}

function simtFamily(problem: Problem): Family {
  const { row, column, depth, igemm } = problem.roles;
  const subgroupSize = problem.target.subgroupSizes[0]!;
  return {
    values: { ...TILES, threads_m: powers(64), threads_n: powers(256), pipeline: [0, 1], prefetch: [0] },
    at: ({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n, pipeline }) =>
      checked(problem, {
        ...{ version: 1, kind: 'simt-tile', subgroupSize, igemm, padded: false, promoted: pipeline === 1 },
        workgroup: matmulLevel(problem, workgroup_m, workgroup_n),
        thread: matmulLevel(problem, workgroup_m / threads_m, workgroup_n / threads_n),
        reduction: summed(problem, summed_k),
      }),
    choiceOf(c) {
      if (c.kind !== 'simt-tile') return null;
      const threads = (d: number) => c.workgroup[d]! / c.thread[d]!;
      return {
        ...{
          workgroup_m: c.workgroup[row]!,
          workgroup_n: c.workgroup[column]!,
          summed_k: c.reduction[depth]!,
        },
        ...{ threads_m: threads(row), threads_n: threads(column), pipeline: Number(c.promoted), prefetch: 0 },
      };
    },
  };
}

const summed = ({ workload, roles }: Problem, k: number): number[] =>
  workload.dimensions.map((_, d) => (d === roles.depth ? k : 0));

/** The configuration, with padding if necessary, or the broken rule. */
function checked(
  problem: Problem,
  c: MmaTileConfiguration | SimtTileConfiguration,
): GpuConfiguration | string {
  const found = legal(problem, c);
  if (found === null) return illegality(problem, { ...c, padded: true })!;
  return isOfSchema(SCHEMA, found) ? found : NOT_WHOLE;
}
