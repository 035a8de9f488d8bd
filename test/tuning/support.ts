import type { Toolchain } from '../../src/measure/toolchain.ts';
import type { Store } from '../../src/store/store.ts';
import { configurationKey } from '../../src/backend/index.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Batch, Bench } from '../../src/tuning/bench.ts';
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

/** A batch of one process. Seconds are at each size; null for a configuration that failed, and for a default that was not timed. */
export function batchOf(
  configurations: readonly Configuration[],
  defaultSeconds: readonly number[] | null,
  ...seconds: readonly (readonly number[] | null)[]
): Batch {
  const contestants = configurations.map((configuration) => ({
    ...{ configuration, name: configurationKey(configuration), maxError: 0 },
  }));
  const timed = contestants.flatMap(({ name }, i) => (seconds[i] ? [[name, seconds[i]] as const] : []));
  const process = {
    placement: 'apart',
    build: 0,
    failed: new Map<string, string>(),
    repetitions: 3,
  } as const;
  return {
    contestants,
    processes: [{ ...process, defaultSeconds, seconds: new Map(timed) }],
    failed: configurations.flatMap((configuration, i) =>
      seconds[i] === null ? [{ configuration, outcome: 'run-error', reason: 'no' }] : [],
    ),
    problem: null,
  };
}
