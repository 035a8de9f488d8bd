// Vulkan: SPIR-V, which a driver compiles for a GPU, or for the CPU in case of llvmpipe.
import { EMPTY_SPACE } from '../../search/space.ts';
import type { Backend } from '../backend.ts';
import type { ConfiguredOperation } from '../dumps.ts';
import { landedWith } from '../landed.ts';
import { readGpuTarget } from '../gpu/target.ts';
import { isMatmul } from '../gpu/roles.ts';
import { illegalValues, USER_KNOBS, userSpace } from '../gpu/user-space.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { deviceFlags, describeDevice, driverFiles, meter, whyNotRunnable } from './device.ts';
import { familiesOf, isTuned } from './families.ts';
import { knobValues } from './names.ts';
import { directive, rendered } from './render.ts';
import { SCHEMA } from './schema.ts';
import { vulkanSpace } from './space.ts';
import { userFamily } from './user-family.ts';

export const vulkan: Backend = {
  name: 'vulkan-spirv',
  drivers: ['vulkan'],
  describeDevice,
  driverFiles,
  deviceFlags,
  whyNotRunnable,
  meter,
  schema: SCHEMA,
  knobValues,
  hardwareOf: ({ gpu = '' }, { threads }) => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu }),
  familiesOf,
  spaceOf(workload, { gpu = '', only }) {
    const target = readGpuTarget(Buffer.from(gpu));
    if (target === null || !isTuned(workload)) return EMPTY_SPACE;
    return only === undefined ? vulkanSpace(workload, target) : userSpace(userFamily(workload, target), only);
  },
  featuresOf: () => null,
  userKnobs: USER_KNOBS,
  isRestrictable: isMatmul,
  illegalValues(workload, { gpu = '', only = {} }) {
    const target = readGpuTarget(Buffer.from(gpu));
    return target === null || !isTuned(workload) ? [] : illegalValues(userFamily(workload, target), only);
  },
  // The pipelines ignore the flag for tuning specs.
  specFlag: 'library',
  directive,
  landedOn(configured, form, configuration: VulkanConfiguration, loops, expected) {
    const { lowering, translation } = rendered(configuration, loops);
    const has = (one: ConfiguredOperation) => one.lowering === lowering && one.translation === translation;
    return landedWith(configured, form, loops, expected, has);
  },
};
