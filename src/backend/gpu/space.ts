// The search space of a workload on a GPU.
import type { SearchSpace } from '../../search/space.ts';
import { isDynamic, type OperationWork } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import { eitherSpace } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import type { Problem } from './legality.ts';
import { mmaSpace, type Traits } from './mma-space.ts';
import { rolesOf } from './roles.ts';
import { simtSpace } from './simt-space.ts';
import { sumSpace } from './sum-space.ts';
import type { GpuTarget } from './target.ts';

/** The search space. All its configurations compile and compute the right result. Pure. */
export function gpuSpace(problem: Problem, traits: Traits): SearchSpace<Configuration> {
  const sums = sumSpace(problem);
  // Kernels without matrix instructions are several times slower on GPUs with them.
  return sums === null
    ? (mmaSpace(problem, traits) ?? simtSpace(problem))
    : eitherSpace(sums, simtSpace(problem));
}

/** Null for a workload that the pipelines do not support. */
export function problemOf(workload: OperationWork, target: GpuTarget): Problem | null {
  const roles = rolesOf(workload);
  return roles && { workload, roles, target };
}

/** See `Tuning`. */
export function unsupported(workload: OperationWork): string | null {
  if (rolesOf(workload) !== null) return null;
  return isDynamic(workload) ? 'dynamic sizes' : 'depthwise convolutions';
}

/** Families of a workload, sorted. The target decides about the real families, and every record names the target. */
export const familiesOf = (
  workload: OperationWork,
  { only }: Pick<SpaceOptions, 'only'>,
): readonly string[] =>
  only !== undefined || unsupported(workload) !== null ? [] : ['mma-tile', 'shared-sum', 'simt-tile'];
