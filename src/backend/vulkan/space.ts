// Tuned workloads, and their search spaces on a Vulkan device.
import type { SearchSpace } from '../../search/space.ts';
import { isDynamic, type OperationWork } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { Configuration } from '../configuration.ts';
import { eitherSpace } from '../choices.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { SCHEMA } from './configuration.ts';
import { cooperativeSpace } from './cooperative-space.ts';
import { promotedSpace } from './promoted-space.ts';
import { productOf } from './shared-tiles.ts';
import { tileSpace } from './tile-space.ts';

/** See `Tuning`. Tiles must divide static sizes. SPIR-V of the compiler has no vectors of bf16 (3.13.0). */
export function unsupported(workload: OperationWork): string | null {
  if (isDynamic(workload)) return 'dynamic sizes';
  return [workload.lhs, workload.rhs].some(({ elementType }) => elementType === 'bf16') ? 'bf16' : null;
}

/** Families of a workload, sorted; none if a user restricts knobs. The target decides about the real families. */
export const familiesOf = (
  workload: OperationWork,
  { only }: Pick<SpaceOptions, 'only'>,
): readonly string[] =>
  only !== undefined || unsupported(workload) !== null
    ? []
    : productOf(workload) === null
      ? ['spirv-tile']
      : Object.keys(SCHEMA.kinds);

/** The search space. All its configurations compile and compute the right result. Pure. */
export function vulkanSpace(workload: OperationWork, target: GpuTarget): SearchSpace<Configuration> {
  const tiles = tileSpace(workload, target);
  // The compiler's own defaults use shared memory on GPUs with matrix instructions only.
  if (target.mma.length === 0) return tiles;
  const cooperative = cooperativeSpace(workload, target);
  // Kernels without matrix instructions are several times slower.
  if (cooperative !== null && cooperative.starts.length > 0) return cooperative;
  const promoted = promotedSpace(workload, target);
  return promoted === null || promoted.starts.length === 0 ? tiles : eitherSpace(promoted, tiles);
}
