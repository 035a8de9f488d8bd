// The search space of a workload on a GPU.
import type { SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { eitherSpace } from './choices.ts';
import type { GpuConfiguration } from './configuration.ts';
import type { Problem } from './legality.ts';
import { mmaSpace } from './mma-space.ts';
import { rolesOf } from './roles.ts';
import { simtSpace } from './simt-space.ts';
import { sumSpace } from './sum-space.ts';
import type { GpuTarget } from './target.ts';
import type { Traits } from './traits.ts';

const EMPTY: SearchSpace<never> = {
  ...{ knobs: [], starts: [], alternatives: [] },
  configurationAt: () => null,
  pointOf: () => null,
};

/** All configurations worth trying; each compiles and computes the right result. Empty for what cannot be configured. Pure. */
export function gpuSpace(
  workload: OperationWork,
  target: GpuTarget,
  traits: Traits,
): SearchSpace<GpuConfiguration> {
  const problem = problemOf(workload, target);
  if (problem === null) return EMPTY;
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
