// CUDA: PTX, which the driver compiles for the GPU.
import { gpuBackend } from '../gpu/backend.ts';

/** The number of an architecture such as `sm_89`; NaN for other names. */
const versionOf = (architecture: string): number => Number(/^sm_(\d+)a?$/.exec(architecture)?.[1]);

/** Links to the driver's library, which an update replaces. */
const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu', '../lib64', 'wsl/lib'].map(
  (folder) => `/usr/lib/${folder}/libcuda.so.1`,
);

export const cuda = gpuBackend({
  name: 'cuda',
  drivers: ['cuda'],
  driverFiles: () => LIBRARIES,
  // The pipelines ignore the flag for tuning specs.
  specFlag: 'library',
  // PTX runs on all later architectures.
  runsOn: (code, device) => versionOf(code) <= versionOf(device),
  // Prefetch stages change no instruction. Without bank padding a kernel takes 1.6 times as long (H100, IREE 3.13.0).
  traits: { hasStages: false, prefetch: [0], wavesPerEu: [0], bankPadding: [1] },
});
