// The bench that measures on this machine, with the real compiler and runtime.
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
  return {
    prepareBatch: (...batch) => screener.prepare(...batch),
    finalsSeconds: (entry) => finalsSeconds(entry, sizes, toolchain.device),
    prepareFinals(entry) {
      const screened = screener.compiledWith(entry.finalists.map(({ configuration }) => configuration));
      return prepareFinals(toolchain, workload, entry, screened);
    },
    textAfter: (...of) => textAfter(toolchain, workload, ...of),
  };
}
