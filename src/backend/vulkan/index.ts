// Vulkan: SPIR-V, which a driver compiles for a GPU, or for the CPU in case of llvmpipe.
import { EMPTY_SPACE } from '../../search/space.ts';
import type { Backend } from '../backend.ts';
import { compilationInfo } from '../compilation-info.ts';
import { landedWith } from '../landed.ts';
import { readGpuTarget } from '../gpu/target.ts';
import { isMatmul } from '../gpu/roles.ts';
import { USER_KNOBS } from '../gpu/user-space.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { describeDevice, driverFiles, meter, whyNotRunnable } from './device.ts';
import { knobValues } from './names.ts';
import { rendered } from './render.ts';
import { SCHEMA } from './schema.ts';
import { familiesOf, isTuned, unsupported, vulkanSpace } from './space.ts';
import { userFamily } from './user-family.ts';

export const vulkan: Backend = {
  name: 'vulkan-spirv',
  drivers: ['vulkan'],
  describeDevice,
  driverFiles,
  whyNotRunnable,
  meter,
  schema: SCHEMA,
  knobValues,
  hardwareOf: ({ gpu = '' }, { threads }) => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu }),
  unsupported,
  familiesOf,
  spaceOf(workload, { gpu = '', only }) {
    const target = readGpuTarget(Buffer.from(gpu));
    if (target === null || !isTuned(workload)) return EMPTY_SPACE;
    return only === undefined ? vulkanSpace(workload, target) : userFamily(workload, target).space(only);
  },
  featuresOf: () => null,
  otherRounding: [['--iree-opt-level=O2']],
  userKnobs: USER_KNOBS,
  isRestrictable: isMatmul,
  illegalValues(workload, { gpu = '', only = {} }) {
    const target = readGpuTarget(Buffer.from(gpu));
    return target === null || !isTuned(workload) ? [] : userFamily(workload, target).illegalValues(only);
  },
  // The pipelines ignore the flag for tuning specs.
  specFlag: 'library',
  directive: (c: VulkanConfiguration, loops) => compilationInfo(rendered(c, loops)),
  landedOn: (configured, form, c: VulkanConfiguration, loops, expected) =>
    landedWith(configured, form, loops, expected, rendered(c, loops)),
};
