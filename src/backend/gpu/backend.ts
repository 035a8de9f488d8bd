// The common part of the CUDA and HIP backends.
import { isDynamic, isOperationWork, type OperationWork } from '../../workload/workload.ts';
import {
  untuned,
  type Backend,
  type Devices,
  type Rendering,
  type Tuning,
  type UserKnob,
} from '../backend.ts';
import { attentionTuning, reconfigured } from './attention.ts';
import { SCHEMA, type GpuConfiguration } from './configuration.ts';
import { describeDevice, meter } from './device.ts';
import { COMPARISON_FLAGS, gpuRendering, gpuTuning, hardwareOf } from './parts.ts';
import { rendered } from './render.ts';
import { rolesOf } from './roles.ts';
import { gpuSpace, type Traits } from './space.ts';
import { fusedFamily, USER_KNOBS } from './user-space.ts';

interface Own
  extends Pick<Backend, 'name' | 'drivers'>, Pick<Devices, 'driverFiles'>, Pick<Rendering, 'specFlag'> {
  /** Whether code for an architecture runs on a device of another one. Names are those of the compiler, such as `sm_80`. */
  readonly runsOn: (code: string, device: string) => boolean;
  readonly traits: Traits;
}

/** A backend with the GPU pipelines. */
export const gpuBackend = ({ name, drivers, driverFiles, specFlag, runsOn, traits }: Own): Backend => ({
  name,
  drivers,
  devices: {
    describe: describeDevice,
    ...(driverFiles && { driverFiles }),
    whyNotRunnable: ({ cpu }, { model, gpu }) =>
      Promise.resolve(
        gpu?.architecture !== undefined && runsOn(cpu, gpu.architecture)
          ? null
          : `code for ${cpu} does not run on ${model} (${gpu?.architecture ?? 'no GPU'})`,
      ),
    hardwareOf,
  },
  meter,
  schema: SCHEMA,
  tuning: (workload) =>
    isOperationWork(workload) ? contractionTuning(workload, traits) : attentionTuning(workload),
  // Without stages the compiler ignores prefetching.
  userKnobs: traits.hasStages ? [...USER_KNOBS, PREFETCH] : USER_KNOBS,
  rendering: {
    specFlag,
    // Callers pass only configurations of the backend's kinds.
    ...gpuRendering((c, loops) => rendered(c as GpuConfiguration, loops)),
    reconfigured,
  },
  flags: () => COMPARISON_FLAGS,
});

const PREFETCH: UserKnob = { name: 'prefetch', type: 'tile', least: 0 };

function contractionTuning(workload: OperationWork, traits: Traits): Tuning {
  const roles = rolesOf(workload);
  if (roles === null) return untuned(isDynamic(workload) ? 'dynamic sizes' : 'depthwise convolutions');
  return gpuTuning(workload, ['mma-tile', 'shared-sum', 'simt-tile'], (target) => {
    const problem = { workload, roles, target };
    return { space: () => gpuSpace(problem, traits), userFamily: () => fusedFamily(problem, traits) };
  });
}
