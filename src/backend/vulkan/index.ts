// Vulkan: SPIR-V, which a driver compiles for a GPU, or for the CPU in case of llvmpipe.
import type { Backend } from '../backend.ts';
import { gpuParts } from '../gpu/parts.ts';
import { USER_KNOBS } from '../gpu/user-space.ts';
import { knobValues, SCHEMA, type VulkanConfiguration } from './configuration.ts';
import { describeDevice, driverFiles, meter, whyNotRunnable } from './device.ts';
import { rendered } from './render.ts';
import { familiesOf, isTuned, unsupported, vulkanSpace } from './space.ts';
import { userFamily } from './user-family.ts';

export const vulkan: Backend = {
  ...gpuParts({
    problemOf: (workload, target) => (isTuned(workload) ? { workload, target } : null),
    space: ({ workload, target }) => vulkanSpace(workload, target),
    userFamily: ({ workload, target }) => userFamily(workload, target),
    rendered: (c, loops) => rendered(c as VulkanConfiguration, loops),
  }),
  name: 'vulkan-spirv',
  drivers: ['vulkan'],
  describeDevice,
  driverFiles,
  whyNotRunnable,
  meter,
  schema: SCHEMA,
  knobValues,
  unsupported,
  familiesOf,
  featuresOf: () => null,
  userKnobs: USER_KNOBS,
  // The pipelines ignore the flag for tuning specs.
  specFlag: 'library',
};
