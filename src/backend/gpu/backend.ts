// The common part of the CUDA and HIP backends.
import { EMPTY_SPACE } from '../../search/space.ts';
import { isOperationWork, type Workload } from '../../workload/workload.ts';
import type { Backend, Hardware, UserKnob } from '../backend.ts';
import { compilationInfo } from '../compilation-info.ts';
import { isDefault, type OwnConfiguration } from '../configuration.ts';
import { landedWith } from '../landed.ts';
import { attentionSpace } from './attention-space.ts';
import { reconfigured } from './attention-text.ts';
import type { GpuConfiguration } from './configuration.ts';
import { describeDevice, meter } from './device.ts';
import { gpuFeatures } from './features.ts';
import type { Traits } from './mma-space.ts';
import { attentionKnobs, knobValues } from './names.ts';
import { rendered } from './render.ts';
import { SCHEMA } from './schema.ts';
import type { Problem } from './legality.ts';
import { familiesOf, gpuSpace, problemOf, unsupported } from './space.ts';
import { readGpuTarget } from './target.ts';
import { userFamily } from './user-family.ts';
import { isMatmul } from './roles.ts';
import { USER_KNOBS } from './user-space.ts';

/** A backend with the GPU pipelines. */
export const gpuBackend = (
  own: Pick<Backend, 'name' | 'drivers' | 'driverFiles' | 'specFlag' | 'whyNotRunnable'>,
  traits: Traits,
): Backend => ({
  ...own,
  describeDevice,
  meter,
  schema: SCHEMA,
  knobValues: (workload, c) =>
    c.kind === 'attention-tile' ? attentionKnobs(workload, c) : knobValues(workload, ofGpu(c)),
  hardwareOf: ({ gpu = '' }, { threads }) => ({ nativeVectorBytes: 0, vectorRegisters: 0, threads, gpu }),
  unsupported,
  familiesOf,
  spaceOf(workload, hardware) {
    if (!isOperationWork(workload)) {
      const target = readGpuTarget(Buffer.from(hardware.gpu ?? ''));
      return target === null ? EMPTY_SPACE : attentionSpace(workload, target);
    }
    const problem = problemFor(workload, hardware);
    if (problem === null) return EMPTY_SPACE;
    const { only } = hardware;
    return only === undefined ? gpuSpace(problem, traits) : userFamily(problem, traits).space(only);
  },
  featuresOf(workload, configuration, hardware) {
    const problem = problemFor(workload, hardware);
    return problem === null || isDefault(configuration) ? null : gpuFeatures(problem, ofGpu(configuration));
  },
  // Without stages the compiler ignores prefetching.
  otherRounding: [['--iree-opt-level=O2']],
  userKnobs: traits.hasStages ? [...USER_KNOBS, PREFETCH] : USER_KNOBS,
  isRestrictable: isMatmul,
  illegalValues(workload, hardware) {
    const problem = problemFor(workload, hardware);
    return problem === null ? [] : userFamily(problem, traits).illegalValues(hardware.only ?? {});
  },
  reconfigured,
  directive: (c, loops) => compilationInfo(rendered(ofGpu(c), loops)),
  landedOn: (configured, form, c, loops, expected) =>
    landedWith(configured, form, loops, expected, rendered(ofGpu(c), loops)),
});

const PREFETCH: UserKnob = { name: 'prefetch', type: 'tile', least: 0 };

/** Callers pass only configurations of the backend's kinds. */
const ofGpu = (configuration: OwnConfiguration) => configuration as GpuConfiguration;

/** Null for an untuned workload. */
function problemFor(workload: Workload, { gpu = '' }: Pick<Hardware, 'gpu'>): Problem | null {
  const target = readGpuTarget(Buffer.from(gpu));
  return target === null || !isOperationWork(workload) ? null : problemOf(workload, target);
}
