// Vulkan: SPIR-V, which a driver compiles for a GPU, or for the CPU in case of llvmpipe.
import type { Backend } from '../backend.ts';
import { gpuRendering, gpuSearch } from '../gpu/parts.ts';
import { USER_KNOBS } from '../gpu/user-space.ts';
import { tuningByKind } from '../tuning-by-kind.ts';
import { knobValues, SCHEMA, type VulkanConfiguration } from './configuration.ts';
import { describeDevice, driverFiles, meter, whyNotRunnable } from './device.ts';
import { rendered } from './render.ts';
import { familiesOf, unsupported, vulkanSpace } from './space.ts';
import { userFamily } from './user-family.ts';

export const vulkan: Backend = {
  ...gpuRendering((c, loops) => rendered(c as VulkanConfiguration, loops)),
  ...tuningByKind({
    ...gpuSearch({
      problemOf: (workload, target) => (unsupported(workload) === null ? { workload, target } : null),
      space: ({ workload, target }) => vulkanSpace(workload, target),
      userFamily: ({ workload, target }) => userFamily(workload, target),
      features: () => null,
    }),
    unsupported,
    familiesOf,
    // Callers pass only configurations of the backend's kinds.
    knobValues: (workload, c) => knobValues(workload, c as VulkanConfiguration),
  }),
  name: 'vulkan-spirv',
  drivers: ['vulkan'],
  describeDevice,
  driverFiles,
  whyNotRunnable,
  meter,
  schema: SCHEMA,
  userKnobs: USER_KNOBS,
  // The pipelines ignore the flag for tuning specs.
  specFlag: 'library',
};
