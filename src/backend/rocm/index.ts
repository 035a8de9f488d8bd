// ROCm: machine code of AMD's GPUs for the HIP driver.
import { gpuBackend } from '../gpu/backend.ts';

export const rocm = gpuBackend({
  name: 'rocm',
  drivers: ['hip'],
  specFlag: 'tuning-spec',
  runsOn: (code, device) => code === device,
  traits: { hasStages: true, prefetch: [0, 2, 3], wavesPerEu: [0, 1, 2, 4], bankPadding: [0, 1] },
});
