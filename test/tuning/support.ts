import type { Toolchain } from '../../src/measure/toolchain.ts';
import type { Store } from '../../src/store/store.ts';
import { realBench } from '../../src/tuning/real-bench.ts';
import { tuneWorkload, type TuningJob } from '../../src/tuning/tune-workload.ts';

/** Tunes by what these tools measure. */
export const tuneWith = (tools: Toolchain, store: Store, job: TuningJob) =>
  tuneWorkload(realBench(tools, job.subject.workloadForm), store, job);
