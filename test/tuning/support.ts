import type { Toolchain } from '../../src/measure/toolchain.ts';
import type { Store } from '../../src/store/store.ts';
import type { Bench } from '../../src/tuning/bench.ts';
import { realBench } from '../../src/tuning/real-bench.ts';
import { tuneTogether, type Budget } from '../../src/tuning/tune-together.ts';
import type { TuningResult } from '../../src/tuning/result.ts';
import type { SearchJob } from '../../src/tuning/search-job.ts';
import { WorkloadSearch } from '../../src/tuning/workload-search.ts';
import { operationWork } from '../support/operation-work.ts';

/** One workload, and what there is for it. */
export interface TuningJob extends SearchJob, Pick<Budget, 'finishEarly'> {}

/** Tunes a workload that is alone. */
export async function tuneWorkload(bench: Bench, store: Store, job: TuningJob): Promise<TuningResult | null> {
  const { clock, effort, finishEarly, budgetSeconds } = job;
  const part = {
    search: new WorkloadSearch(bench, store, job),
    count: 1,
    likelyCost: 1,
    programSeconds: null,
  };
  let known: TuningResult | null = null;
  const end = clock() + budgetSeconds;
  await tuneTogether(
    [part],
    { end, clock, effort, leastSeconds: 0, compilesAtOnce: 1, ...(finishEarly && { finishEarly }) },
    (_, result) => {
      known = result;
    },
  );
  return known;
}

/** Tunes by what these tools measure. */
export const tuneWith = (tools: Toolchain, store: Store, job: TuningJob) =>
  tuneWorkload(realBench(tools, operationWork(job.subject.workloadForm)), store, job);
