// A time-out blames a candidate only on a machine that runs anything else in time.
import { buildCandidates } from '../measure/build.ts';
import { stockCandidate } from '../measure/candidate-module.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import type { OperationWork } from '../workload/workload.ts';
import { DEFAULT_NAME, Timer } from './timer.ts';

/** A workload whose run ends at once. */
const TINY: OperationWork = {
  kind: 'contraction',
  dimensions: [
    { kind: 'm', size: 4 },
    { kind: 'n', size: 4 },
    { kind: 'k', size: 4 },
  ],
  lhs: { elementType: 'f32', dimensions: [0, 2] },
  rhs: { elementType: 'f32', dimensions: [2, 1] },
  accumulator: { elementType: 'f32', dimensions: [0, 1] },
  constantRhs: false,
};

/** Whether this machine takes longer than `timeoutSeconds` to start a program with almost no work. */
export async function isTooBusy(toolchain: Toolchain, timeoutSeconds: number): Promise<boolean> {
  const { module } = await buildCandidates(toolchain, TINY, [stockCandidate(DEFAULT_NAME)], 'tiny');
  if (module === null) return false;
  const { seconds } = await new Timer(toolchain, TINY).timeDefault(module, timeoutSeconds);
  return seconds.size === 0;
}
