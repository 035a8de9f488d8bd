// The common part of the CUDA and HIP backends.
import type { Backend, UserKnob } from '../backend.ts';
import type { OwnConfiguration } from '../configuration.ts';
import { tuningByKind } from '../tuning-by-kind.ts';
import { attentions } from './attention-space.ts';
import { reconfigured } from './attention-text.ts';
import { knobValues, SCHEMA, type GpuConfiguration } from './configuration.ts';
import { describeDevice, meter } from './device.ts';
import { gpuFeatures } from './features.ts';
import type { Traits } from './mma-space.ts';
import { gpuRendering, gpuSearch } from './parts.ts';
import { rendered } from './render.ts';
import { familiesOf, gpuSpace, problemOf, unsupported } from './space.ts';
import { userFamily } from './user-family.ts';
import { USER_KNOBS } from './user-space.ts';

/** A backend with the GPU pipelines. */
export const gpuBackend = (
  own: Pick<Backend, 'name' | 'drivers' | 'driverFiles' | 'specFlag' | 'whyNotRunnable'>,
  traits: Traits,
): Backend => ({
  ...own,
  ...gpuRendering((c, loops) => rendered(ofGpu(c), loops)),
  ...tuningByKind(
    {
      ...gpuSearch({
        problemOf,
        space: (problem) => gpuSpace(problem, traits),
        userFamily: (problem) => userFamily(problem, traits),
        features: (problem, c) => gpuFeatures(problem, ofGpu(c)),
      }),
      unsupported,
      familiesOf,
      knobValues: (workload, c) => knobValues(workload, ofGpu(c)),
    },
    attentions,
  ),
  describeDevice,
  meter,
  schema: SCHEMA,
  // Without stages the compiler ignores prefetching.
  userKnobs: traits.hasStages ? [...USER_KNOBS, PREFETCH] : USER_KNOBS,
  reconfigured,
});

const PREFETCH: UserKnob = { name: 'prefetch', type: 'tile', least: 0 };

/** Callers pass only configurations of the backend's kinds. */
const ofGpu = (configuration: OwnConfiguration) => configuration as GpuConfiguration;
