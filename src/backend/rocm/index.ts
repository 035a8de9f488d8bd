// ROCm: machine code of AMD's GPUs for the HIP driver.
import { gpuBackend } from '../gpu/backend.ts';

export const rocm = gpuBackend(
  {
    name: 'rocm',
    drivers: ['hip'],
    specFlag: 'tuning-spec',
    whyNotRunnable: ({ cpu }, { model, gpu }) =>
      Promise.resolve(
        cpu === gpu?.architecture
          ? null
          : `code for ${cpu} does not run on ${model} (${gpu?.architecture ?? 'no GPU'})`,
      ),
  },
  { hasStages: true, prefetch: [0, 2, 3], wavesPerEu: [0, 1, 2, 4], bankPadding: [0, 1] },
);
