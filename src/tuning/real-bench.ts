// The bench that measures on this machine, with the real compiler and runtime.
import { meterOf } from '../backend/index.ts';
import { textAfter } from '../measure/build.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import { staticForms, type OperationWork } from '../workload/workload.ts';
import type { Bench } from './bench.ts';
import { finalsSeconds, prepareFinals } from './finals.ts';
import { Screener } from './screen.ts';

/** Its methods throw `StoppedError` when the toolchain's signal fires. */
export function realBench(toolchain: Toolchain, workload: OperationWork): Bench {
  const screener = new Screener(toolchain, workload);
  const sizes = staticForms(workload).length;
  const { threads } = toolchain.device;
  const { startSeconds } = meterOf(toolchain.device);
  return {
    prepareBatch: (configurations, timeoutSeconds, modules) =>
      screener.prepare(configurations, timeoutSeconds, modules),
    finalsSeconds: (expected, isBrief) => finalsSeconds(expected, sizes, isBrief, { threads, startSeconds }),
    prepareFinals: (configurations, expected, isBrief) =>
      prepareFinals(
        toolchain,
        workload,
        configurations,
        expected,
        isBrief,
        screener.compiledWith(configurations),
      ),
    textAfter: (configuration, phase) => textAfter(toolchain, workload, configuration, phase),
  };
}
