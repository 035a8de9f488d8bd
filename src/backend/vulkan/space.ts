// The search space of a workload on a Vulkan device.
import type { SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { Configuration } from '../configuration.ts';
import { eitherSpace } from '../choices.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { cooperativeSpace } from './cooperative-space.ts';
import { promotedSpace } from './promoted-space.ts';
import { tileSpace } from './tile-space.ts';

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
