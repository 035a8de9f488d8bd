// The Vulkan target llvmpipe.
import type { SpaceOptions } from '../../src/backend/backend.ts';

export const LLVMPIPE_FLAGS = ['--iree-hal-target-device=vulkan', '--iree-vulkan-target=llvmpipe'];

/** Options of search spaces for llvmpipe. `gpu` is the compiler's description. */
export const LLVMPIPE: SpaceOptions = {
  ...{ nativeVectorBytes: 0, vectorRegisters: 0, threads: 2, wholeProgram: false, following: true },
  gpu: '#iree_gpu.target<arch = "llvmpipe", features = "spirv:v1.6", wgp = <compute = fp32|fp16, storage = b32|b16|b8, subgroup = shuffle, subgroup_size_choices = [8], max_workgroup_sizes = [1024, 1024, 1024], max_thread_count_per_workgroup = 1024, max_workgroup_memory_bytes = 32768, max_workgroup_counts = [65535, 65535, 65535]>>',
};
