// A Vulkan device for tests.
import { spawnSync } from 'node:child_process';
import type { Device } from '../../src/backend/device.ts';
import { loadBackend } from '../../src/backend/index.ts';
import type { VulkanConfiguration } from '../../src/backend/vulkan/configuration.ts';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { runtimeTool, toolchain } from './real-tools.ts';
import { LLVMPIPE_FLAGS } from './vulkan-target.ts';

export { LLVMPIPE, LLVMPIPE_FLAGS } from './vulkan-target.ts';

/** A configuration for a matmul of 100x100x100, whose default is scalar. */
export const VULKAN_TILE: VulkanConfiguration = {
  ...{ version: 1, kind: 'spirv-tile' },
  ...{ workgroup: [20, 50, 0], thread: [5, 5, 0], reduction: [0, 0, 5] },
};

let listed: string | null = null;

/** Why there is no Vulkan device; null when there is one. */
export function whyNoVulkan(): string | null {
  listed ??= spawnSync(runtimeTool('iree-run-module'), ['--list_devices=vulkan']).stdout.toString();
  return listed.includes('vulkan://')
    ? null
    : 'no Vulkan device; apt-get install mesa-vulkan-drivers libvulkan1';
}

const DEVICE: Device = {
  ...{ model: 'llvmpipe', driver: 'vulkan', threads: 2, cachesKiB: [] },
  gpu: { version: 'llvmpipe', subgroup: 8, isSoftware: true },
};

/** A toolchain for measuring on llvmpipe. */
export async function vulkanToolchain(workDirectory: string): Promise<Toolchain> {
  await loadBackend('vulkan-spirv');
  return { ...(await toolchain(workDirectory)), flags: LLVMPIPE_FLAGS, device: DEVICE };
}
