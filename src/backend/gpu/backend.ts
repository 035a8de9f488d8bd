// The common part of the CUDA and HIP backends.
import { EMPTY_SPACE } from '../../search/space.ts';
import { isOperationWork } from '../../workload/workload.ts';
import type { Backend, UserKnob } from '../backend.ts';
import { isDefault, type OwnConfiguration } from '../configuration.ts';
import { attentionSpace } from './attention-space.ts';
import { reconfigured } from './attention-text.ts';
import { attentionKnobs, knobValues, SCHEMA, type GpuConfiguration } from './configuration.ts';
import { describeDevice, meter } from './device.ts';
import { gpuFeatures } from './features.ts';
import type { Traits } from './mma-space.ts';
import { gpuParts, targetOf } from './parts.ts';
import { rendered } from './render.ts';
import { familiesOf, gpuSpace, problemOf, unsupported } from './space.ts';
import { userFamily } from './user-family.ts';
import { USER_KNOBS } from './user-space.ts';

/** A backend with the GPU pipelines. */
export function gpuBackend(
  own: Pick<Backend, 'name' | 'drivers' | 'driverFiles' | 'specFlag' | 'whyNotRunnable'>,
  traits: Traits,
): Backend {
  const parts = gpuParts({
    problemOf: (workload, target) => (isOperationWork(workload) ? problemOf(workload, target) : null),
    space: (problem) => gpuSpace(problem, traits),
    userFamily: (problem) => userFamily(problem, traits),
    rendered: (c, loops) => rendered(ofGpu(c), loops),
  });
  return {
    ...own,
    ...parts,
    describeDevice,
    meter,
    schema: SCHEMA,
    knobValues: (workload, c) =>
      c.kind === 'attention-tile' ? attentionKnobs(workload, c) : knobValues(workload, ofGpu(c)),
    unsupported,
    familiesOf,
    spaceOf(workload, options) {
      if (isOperationWork(workload)) return parts.spaceOf(workload, options);
      const target = targetOf(options);
      return target === null ? EMPTY_SPACE : attentionSpace(workload, target);
    },
    featuresOf(workload, configuration, options) {
      const target = targetOf(options);
      const problem = target && isOperationWork(workload) ? problemOf(workload, target) : null;
      return problem === null || isDefault(configuration) ? null : gpuFeatures(problem, ofGpu(configuration));
    },
    userKnobs: traits.hasStages ? [...USER_KNOBS, PREFETCH] : USER_KNOBS,
    reconfigured,
  };
}

const PREFETCH: UserKnob = { name: 'prefetch', type: 'tile', least: 0 };

/** Callers pass only configurations of the backend's kinds. */
const ofGpu = (configuration: OwnConfiguration) => configuration as GpuConfiguration;
