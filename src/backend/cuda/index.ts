// CUDA: PTX that the driver compiles for the GPU.
import { gpuBackend } from '../gpu/backend.ts';

/** The number of an architecture such as `sm_89`; NaN for another name. */
const versionOf = (architecture: string): number => Number(/^sm_(\d+)a?$/.exec(architecture)?.[1]);

export const cuda = gpuBackend(
  {
    name: 'cuda',
    drivers: ['cuda'],
    // The pipelines are built without the other flag, and ignore it silently.
    specFlag: 'library',
    // PTX runs on all later architectures.
    whyNotRunnable: ({ cpu }, { model, gpu }) =>
      Promise.resolve(
        versionOf(cpu) <= versionOf(gpu?.version ?? '')
          ? null
          : `code for ${cpu} does not run on ${model} (${gpu?.version ?? 'no GPU'})`,
      ),
  },
  // Stages of loads change no instruction here. Rows that are not lengthened cost 1.6 times as much (H100, IREE 3.13.0).
  { hasStages: false, prefetch: [0], wavesPerEu: [0], bankPadding: [1] },
);
