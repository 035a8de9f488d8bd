// Targets of GPUs, for which candidates are compiled.
import { cuda } from '../../../src/backend/cuda/index.ts';
import type { Backend } from '../../../src/backend/backend.ts';
import { addBackend } from '../../../src/backend/index.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { vulkan } from '../../../src/backend/vulkan/index.ts';
import type { CompiledFor } from '../compile-all.ts';

/** Flags for each GPU. */
export const TARGET_FLAGS: Readonly<Record<string, readonly string[]>> = {
  sm_80: ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_80'],
  sm_89: ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_89'],
  sm_120: [
    '--iree-hal-target-device=cuda',
    '--iree-cuda-target=sm_120',
    '--iree-cuda-target-features=+ptx87',
  ],
  ...Object.fromEntries(
    ['gfx942', 'gfx950', 'gfx1100'].map((name) => [
      name,
      ['--iree-hal-target-device=hip', `--iree-rocm-target=${name}`],
    ]),
  ),
  ...Object.fromEntries(
    ['ampere', 'rdna3', 'llvmpipe'].map((name) => [
      name,
      ['--iree-hal-target-device=vulkan', `--iree-vulkan-target=${name}`],
    ]),
  ),
};

export const backendOf = (target: string): Backend =>
  target.startsWith('sm_') ? cuda : target.startsWith('gfx') ? rocm : vulkan;

export const compiledFor = (name: string): CompiledFor => ({
  ...{ name, backend: backendOf(name), flags: TARGET_FLAGS[name]! },
});

for (const backend of [cuda, rocm, vulkan]) addBackend(backend);
