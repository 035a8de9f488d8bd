// The common part of the CUDA and HIP backends.
import type { SearchSpace } from '../../search/space.ts';
import { isDynamic, isOperationWork, type OperationWork } from '../../workload/workload.ts';
import {
  untuned,
  type Backend,
  type Devices,
  type Rendering,
  type Tuning,
  type UserKnob,
} from '../backend.ts';
import { eitherSpace } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { attentionTuning, reconfigured } from './attention.ts';
import { SCHEMA, type GpuConfiguration } from './configuration.ts';
import { describeDevice, meter } from './device.ts';
import { mmaSpace, simtSpace, type Traits } from './fused-space.ts';
import type { Problem } from './legality.ts';
import { COMPARISON_FLAGS, gpuRendering, gpuTuning, hardwareOf } from './parts.ts';
import { rendered } from './render.ts';
import { rolesOf } from './roles.ts';
import { sumSpace } from './sum-space.ts';
import { fusedFamily, USER_KNOBS } from './user-space.ts';

interface Own
  extends Pick<Backend, 'name' | 'drivers'>, Pick<Devices, 'driverFiles'>, Pick<Rendering, 'specFlag'> {
  /** Whether code for an architecture runs on a device of another one. Names are those of the compiler, such as `sm_80`. */
  readonly runsOn: (code: string, device: string) => boolean;
  readonly traits: Traits;
}

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

function gpuSpace(problem: Problem, traits: Traits): SearchSpace<Configuration> {
  const sums = sumSpace(problem);
  // Kernels without matrix instructions are several times slower on GPUs with them.
  return sums === null
    ? (mmaSpace(problem, traits) ?? simtSpace(problem))
    : eitherSpace(sums, simtSpace(problem));
}
