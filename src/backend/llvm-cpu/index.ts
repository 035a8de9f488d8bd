// llvm-cpu: direct tiles, data tiling, tiles of packed operations, and tiles of whole dispatches.
import { isOperationWork, type OperationWork } from '../../workload/workload.ts';
import { untuned, type Backend, type Tuning } from '../backend.ts';
import { SCHEMA, USER_KNOBS } from './configuration.ts';
import { describeDevice, hardwareOf, meter, packings, whyNotRunnable } from './cpu.ts';
import {
  DATA_TILING_FLAG,
  HINT_ON_END,
  isDataTilable,
  isLikelyToGain,
  PACKED_PHASE,
  programWide,
} from './data-tiling.ts';
import { dispatchSpace } from './dispatch-space.ts';
import { tileFeatures } from './features.ts';
import { hasPackedTiles, packedFollowUps, packedRules, withPackedTiles } from './packed.ts';
import { directive, landedOn, reconfigured } from './render.ts';
import { illegalValues } from './tile-knobs.ts';
import { llvmCpuSpace } from './tile-space.ts';
import { windowSpace } from './window-space.ts';

export const llvmCpu: Backend = {
  name: 'llvm-cpu',
  drivers: ['local-task', 'local-sync'],
  devices: {
    describe: (driver, { root }) => Promise.resolve(describeDevice(driver, root)),
    whyNotRunnable,
    hardwareOf,
  },
  meter,
  schema: SCHEMA,
  tuning: (workload) =>
    isOperationWork(workload)
      ? contractionTuning(workload)
      : {
          unsupported: null,
          families: ({ only }) => (only === undefined ? ['dispatch-tile'] : []),
          space: (options) => dispatchSpace(workload, options),
        },
  userKnobs: USER_KNOBS,
  packings,
  rendering: { specFlag: 'tuning-spec', directive, landedOn, reconfigured },
  flags: (architecture) => ({
    // Tiles of the compiler sum in the same order. Without fused multiply-adds, and with other fusions, results round differently.
    otherRounding: [
      // Other architectures have no code without fused multiply-adds.
      ...(architecture === 'x64'
        ? [['--iree-llvmcpu-target-cpu=x86-64-v3', '--iree-llvmcpu-target-cpu-features=-fma']]
        : []),
      ['--iree-opt-level=O2'],
    ],
    plainCode: [
      // Remainders of vectors would be loops of their own, which take half of the time to compile.
      '--iree-llvmcpu-vector-pproc-strategy=none',
      // Generic RISC-V has no floats: the code would call functions that the linker does not find.
      ...(architecture.startsWith('riscv') ? [] : ['--iree-llvmcpu-target-cpu=generic']),
    ],
  }),
  wholeProgram: {
    candidate: programWide,
    isLikelyToGain,
    followUps: packedFollowUps,
    needsOf: ({ kind }) => (kind === 'data-tile' ? 'data tiling' : null),
    flags: [DATA_TILING_FLAG],
    rules: [HINT_ON_END],
    followingRules: packedRules,
    late: { phase: PACKED_PHASE, isNeeded: hasPackedTiles, annotate: withPackedTiles },
  },
};

function contractionTuning(workload: OperationWork): Tuning {
  const { windows, accumulator } = workload;
  // Convolutions have other knobs than users restrict, and no prior.
  if (windows !== undefined)
    // The pipeline for convolutions takes no other layout.
    return windows.some(([along]) => along === accumulator.dimensions.at(-1))
      ? untuned('convolutions with the channels first')
      : {
          unsupported: null,
          families: ({ only }) => (only === undefined ? ['window-tile'] : []),
          space: (options) => windowSpace(workload, options),
        };
  return {
    unsupported: null,
    // Tiles of packed operations are no family of their own: target and compiler decide about them, and every record names both.
    families({ wholeProgram, only }) {
      if (only !== undefined) return [];
      return wholeProgram && isDataTilable(workload) ? ['data-tile', 'tile'] : ['tile'];
    },
    space: (options) => llvmCpuSpace(workload, options),
    features: (c, options) => (c.kind === 'tile' ? tileFeatures(workload, c, options) : null),
    illegalValues: (options) => illegalValues(workload, options),
  };
}
