// Vulkan: SPIR-V, which a driver compiles for a GPU, or for the CPU in case of llvmpipe.
import { EMPTY_SPACE } from '../../search/space.ts';
import type { Backend } from '../backend.ts';
import type { ConfiguredOperation } from '../dumps.ts';
import { landedWith } from '../landed.ts';
import { readGpuTarget } from '../gpu/target.ts';
import { JSON_KEYS, keyOf, KINDS, LARGEST_TILE, type VulkanConfiguration } from './configuration.ts';
import { deviceFlags, describeDevice, driverFiles, meter, whyNotRunnable } from './device.ts';
import { familiesOf, isTuned } from './families.ts';
import { knobValues } from './names.ts';
import { directive, rendered } from './render.ts';
import { isVulkanConfiguration } from './schema.ts';
import { tileSpace } from './tile-space.ts';

export const vulkan: Backend = {
  name: 'vulkan-spirv',
  drivers: ['vulkan'],
  describeDevice,
  driverFiles,
  deviceFlags,
  whyNotRunnable,
  meter,
  kinds: KINDS,
  isConfiguration: isVulkanConfiguration,
  jsonKeys: JSON_KEYS,
  keyOf,
  knobValues,
  hardwareOf: ({ gpu = '' }, { threads }) => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu }),
  familiesOf,
  spaceOf(workload, { gpu = '' }) {
    const target = readGpuTarget(Buffer.from(gpu));
    return target === null || !isTuned(workload) ? EMPTY_SPACE : tileSpace(workload, target);
  },
  featuresOf: () => null,
  userKnobs: [],
  largestTile: LARGEST_TILE,
  isRestrictable: () => false,
  illegalValues: () => [],
  // The pipelines ignore the flag for tuning specs.
  specFlag: 'library',
  directive,
  landedOn(configured, form, configuration: VulkanConfiguration, loops, expected) {
    const { lowering, translation } = rendered(configuration, loops);
    const has = (one: ConfiguredOperation) => one.lowering === lowering && one.translation === translation;
    return landedWith(configured, form, loops, expected, has);
  },
};
