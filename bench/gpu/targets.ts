// The GPU targets of the compiler, and the devices of this machine for them.
import type { Device } from '../../src/backend/device.ts';
import { loadBackend } from '../../src/backend/index.ts';
import { findRuntimeTool } from '../../src/compiler/find.ts';
import { root, type Workplace } from '../shared/workplace.ts';

export interface GpuTargetChoice {
  readonly backend: string;
  readonly driver: string;
  flags(chip: string): string[];
  /** The compiler's name of a device; null if the device does not report it. */
  chipOf(device: Device): string | null;
}

const flagsOf = (driver: string, option: string) => (chip: string) => [
  `--iree-hal-target-device=${driver}`,
  `--${option}=${chip}`,
];

export const TARGETS: Readonly<Record<string, GpuTargetChoice>> = {
  vulkan: {
    ...{ backend: 'vulkan-spirv', driver: 'vulkan', flags: flagsOf('vulkan', 'iree-vulkan-target') },
    chipOf: ({ gpu }) => (gpu?.isSoftware === true ? 'llvmpipe' : null),
  },
  cuda: {
    ...{ backend: 'cuda', driver: 'cuda', flags: flagsOf('cuda', 'iree-cuda-target') },
    // IREE 3.13 does not compile for sm_90; PTX of sm_80 runs on all later GPUs.
    chipOf: () => 'sm_80',
  },
  hip: {
    ...{ backend: 'rocm', driver: 'hip', flags: flagsOf('hip', 'iree-rocm-target') },
    chipOf: ({ gpu }) => gpu?.architecture ?? null,
  },
};

/** The first device of a target on this machine, or the reason that there is none. */
export async function deviceOf(
  { backend, driver }: GpuTargetChoice,
  place: Workplace,
): Promise<Device | string> {
  const { compiler, cacheDirectory } = place;
  const found = await loadBackend(backend);
  return found!.devices.describe(driver, {
    runModule: () =>
      findRuntimeTool('iree-run-module', compiler, process.env, { root, cacheDirectory }) ?? null,
    ...{ cacheDirectory, env: process.env, root: '' },
  });
}
