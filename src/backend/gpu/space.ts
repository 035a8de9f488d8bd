// The search space of a workload on a GPU.
import type { SearchSpace } from '../../search/space.ts';
import { isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import { eitherSpace } from './choices.ts';
import { KINDS, type GpuConfiguration } from './configuration.ts';
import type { Problem } from './legality.ts';
import { mmaSpace } from './mma-space.ts';
import { rolesOf } from './roles.ts';
import { simtSpace } from './simt-space.ts';
import { sumSpace } from './sum-space.ts';
import type { GpuTarget } from './target.ts';
import type { Traits } from './traits.ts';

/** All configurations worth trying; each compiles and computes the right result. Pure. */
export function gpuSpace(problem: Problem, traits: Traits): SearchSpace<GpuConfiguration> {
  const sums = sumSpace(problem);
  // Where there are matrix instructions, threads by themselves are several times slower.
  return sums === null
    ? (mmaSpace(problem, traits) ?? simtSpace(problem))
    : eitherSpace(sums, simtSpace(problem));
}

/** Null for what the pipelines cannot be configured for. */
export function problemOf(workload: OperationWork, target: GpuTarget): Problem | null {
  const roles = rolesOf(workload);
  return roles && { workload, roles, target };
}

/** Families of a workload, sorted: all, since the target, which every record names, decides which there are. */
export const familiesOf = (
  workload: Workload,
  { only }: Pick<SpaceOptions, 'only'>,
): readonly GpuConfiguration['kind'][] =>
  only === undefined && isOperationWork(workload) && rolesOf(workload) !== null ? KINDS : [];
