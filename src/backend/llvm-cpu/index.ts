// llvm-cpu: direct tiles, data tiling, tiles of packed operations, and tiles of whole dispatches.
import type { Backend } from '../backend.ts';
import { tuningByKind, WITHOUT_USER_KNOBS } from '../tuning-by-kind.ts';
import { DATA_TILING_FLAG, HINT_ON_END } from './data-tiling.ts';
import { dispatchSpace } from './dispatch-space.ts';
import { dispatchKnobs, reconfigured } from './dispatch-tiles.ts';
import { isOperationWork } from '../../workload/workload.ts';
import { SCHEMA } from './configuration.ts';
import { describeDevice, hardwareOf, meter, whyNotRunnable } from './cpu.ts';
import { familiesOf, programWide, unsupported } from './families.ts';
import { tileFeatures } from './features.ts';
import { packedFollowUps } from './follow-ups.ts';
import { landedOn } from './landed.ts';
import { hasPackedTiles, PACKED_PHASE, packedRules, withPackedTiles } from './packed-rules.ts';
import { directive } from './render.ts';
import { llvmCpuSpace } from './tile-space.ts';
import { illegalValues, knobValues, USER_KNOBS } from './user-knobs.ts';
import { windowSpace } from './window-space.ts';

export const llvmCpu: Backend = {
  name: 'llvm-cpu',
  drivers: ['local-task', 'local-sync'],
  describeDevice: (driver) => Promise.resolve(describeDevice(driver)),
  whyNotRunnable,
  meter,
  hardwareOf,
  specFlag: 'tuning-spec',
  schema: SCHEMA,
  ...tuningByKind(
    {
      unsupported,
      familiesOf,
      spaceOf: (workload, options) =>
        workload.windows === undefined ? llvmCpuSpace(workload, options) : windowSpace(workload, options),
      featuresOf: (workload, configuration, options) =>
        configuration.kind === 'tile' ? tileFeatures(workload, configuration, options) : null,
      // Convolutions have other knobs.
      isRestrictable: ({ windows }) => windows === undefined,
      illegalValues,
      knobValues,
    },
    {
      ...WITHOUT_USER_KNOBS,
      unsupported: () => null,
      familiesOf: (_, { only }) => (only === undefined ? ['dispatch-tile'] : []),
      spaceOf: dispatchSpace,
      knobValues: dispatchKnobs,
    },
  ),
  // Tiles of the compiler sum in the same order. Without fused multiply-adds, and with other fusions, results round differently.
  otherRounding: [
    ['--iree-llvmcpu-target-cpu=x86-64-v3', '--iree-llvmcpu-target-cpu-features=-fma'],
    ['--iree-opt-level=O2'],
  ],
  plainCode: ['--iree-llvmcpu-target-cpu=generic'],
  userKnobs: USER_KNOBS,
  directive,
  reconfigured,
  landedOn,
  wholeProgram: {
    offer: programWide,
    followUps: (workload, ...rest) =>
      isOperationWork(workload) ? packedFollowUps(workload, ...rest) : Promise.resolve([]),
    needsOf: ({ kind }) => (kind === 'data-tile' ? 'data tiling' : null),
    flags: [DATA_TILING_FLAG],
    rules: [HINT_ON_END],
    followingRules: (entries) =>
      packedRules(
        entries.flatMap(({ workload, configuration }) =>
          isOperationWork(workload) &&
          configuration.kind === 'data-tile' &&
          configuration.packed !== undefined
            ? [{ workload, packed: configuration.packed }]
            : [],
        ),
      ),
    late: { phase: PACKED_PHASE, isNeeded: hasPackedTiles, annotate: withPackedTiles },
  },
};
