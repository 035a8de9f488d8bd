// Vulkan: SPIR-V, which a driver compiles for a GPU, or for the CPU in case of llvmpipe.
import type { SearchSpace } from '../../search/space.ts';
import { isDynamic, isOperationWork, type OperationWork } from '../../workload/workload.ts';
import { untuned, type Backend, type Tuning } from '../backend.ts';
import { eitherSpace } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { COMPARISON_FLAGS, gpuRendering, gpuTuning, hardwareOf } from '../gpu/parts.ts';
import { matmulLevel, rolesOf, stepsOf } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { ofSchema, tileKnobs, USER_KNOBS, userFamilyOf, type UserFamily } from '../gpu/user-space.ts';
import { divisors } from '../tiles.ts';
import { SCHEMA, type SpirvTileConfiguration, type VulkanConfiguration } from './configuration.ts';
import { describeDevice, driverFiles, meter, whyNotRunnable } from './device.ts';
import { illegality } from './legality.ts';
import { rendered } from './render.ts';
import { cooperativeSpace, productOf, promotedSpace } from './shared-space.ts';
import { tileSpace } from './tile-space.ts';

export const vulkan: Backend = {
  name: 'vulkan-spirv',
  drivers: ['vulkan'],
  devices: { describe: describeDevice, driverFiles, whyNotRunnable, hardwareOf },
  meter,
  schema: SCHEMA,
  tuning: (workload) =>
    isOperationWork(workload) ? contractionTuning(workload) : untuned('whole dispatches'),
  userKnobs: USER_KNOBS,
  rendering: {
    // The pipelines ignore the flag for tuning specs.
    specFlag: 'library',
    // Callers pass only configurations of the backend's kinds.
    ...gpuRendering((c, loops) => rendered(c as VulkanConfiguration, loops)),
  },
  flags: () => COMPARISON_FLAGS,
};

/** Tiles must divide static sizes. SPIR-V of the compiler has no vectors of bf16 (3.13.0). */
function contractionTuning(workload: OperationWork): Tuning {
  if (isDynamic(workload)) return untuned('dynamic sizes');
  if ([workload.lhs, workload.rhs].some(({ elementType }) => elementType === 'bf16')) return untuned('bf16');
  const kinds = productOf(workload) === null ? ['spirv-tile'] : Object.keys(SCHEMA.kinds);
  return gpuTuning(workload, kinds, (target) => ({
    space: () => vulkanSpace(workload, target),
    userFamily: () => userFamily(workload, target),
  }));
}

/** The search space. All its configurations compile and compute the right result. Pure. */
function vulkanSpace(workload: OperationWork, target: GpuTarget): SearchSpace<Configuration> {
  const tiles = tileSpace(workload, target);
  // The compiler's own defaults use shared memory on GPUs with matrix instructions only.
  if (target.mma.length === 0) return tiles;
  const cooperative = cooperativeSpace(workload, target);
  // Kernels without matrix instructions are several times slower.
  if (cooperative !== null && cooperative.starts.length > 0) return cooperative;
  const promoted = promotedSpace(workload, target);
  return promoted === null || promoted.starts.length === 0 ? tiles : eitherSpace(promoted, tiles);
}

/** The configurations of `BaseVectorize` by a user's knobs. */
function userFamily(workload: OperationWork, target: GpuTarget): UserFamily {
  // Users restrict the knobs of matmuls only, which have roles.
  const shaped = { workload, roles: rolesOf(workload)! };
  const { row: m, column: n, depth: k } = shaped.roles;
  const dividing = (d: number, most: number) => divisors(workload.dimensions[d]!.size, 1, most);
  return userFamilyOf({
    kind: 'spirv-tile',
    knobs: tileKnobs(
      shaped,
      {
        ...{ workgroup_m: dividing(m, 128), workgroup_n: dividing(n, 512), summed_k: dividing(k, 32) },
        ...{ threads_m: dividing(m, 64), threads_n: dividing(n, 256) },
      },
      ({ workgroup, thread }: SpirvTileConfiguration, d) => workgroup[d]! / thread[d]!,
      () => 1,
    ),
    at({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n }) {
      const c: SpirvTileConfiguration = {
        ...{ version: 1, kind: 'spirv-tile', workgroup: matmulLevel(shaped, workgroup_m, workgroup_n) },
        thread: matmulLevel(shaped, workgroup_m / threads_m, workgroup_n / threads_n),
        reduction: stepsOf(shaped, summed_k),
      };
      return ofSchema(SCHEMA, illegality(workload, c, target) ?? c);
    },
  });
}
