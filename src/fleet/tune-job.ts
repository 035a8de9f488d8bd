// One job, done on this machine: a search as a build would do it, for one workload that is alone in the world.
import { spaceOptionsOf } from '../decision/space-options.ts';
import { recordsOfClass } from '../decision/same-class.ts';
import { isDefault } from '../backend/configuration.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { BUSY } from '../site/turn.ts';
import { chooseRecord } from '../store/choose.ts';
import type { Evidence, Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { tuneWorkloads, type Work } from '../tuning/tune-workloads.ts';
import { isUnfinished, whyUndecided } from '../tuning/undecided.ts';
import type { Job } from './job.ts';

export type JobResult =
  /** There is a record now; `isNew` unless somebody else has written it. */
  | { readonly outcome: 'known'; readonly evidence: Evidence; readonly isNew: boolean }
  | { readonly outcome: 'undecided'; readonly reason: string }
  /** Somebody else began to measure on this machine. */
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'stopped' };

export interface JobOptions {
  /** Ends it at once; what was measured is kept. */
  readonly signal: AbortSignal;
  /** Something was measured and written. */
  readonly onBatch: () => void;
}

/** Does one job. What it writes is in the store. */
export type DoJob = (job: Job, options: JobOptions) => Promise<JobResult>;

/** Nobody measured here when the job was taken; what is waited for others is lost for the search. */
const PATIENCE_SECONDS = 5;

/** Nothing is asked of a program that there is none of, and nothing is in the way of what is asked of the whole. */
const NO_PROGRAM = {
  operations: [],
  reading: { fromStdin: false, dataTiling: false, ownPreprocessing: false, ownPipeline: false },
};

export const jobsAt =
  (store: Store, site: Site, tools: MeasuringTools, surroundings: Surroundings): DoJob =>
  async (job, { signal, onBatch }) => {
    const { settings } = surroundings;
    const work = workOf(job, store, site, surroundings);
    const { results, undecided, whyNot } = await tuneWorkloads([work], store, site, tools, surroundings, {
      budgetSeconds: settings.budgetSeconds,
      givenSeconds: settings.budgetSeconds,
      patienceSeconds: PATIENCE_SECONDS,
      signal,
      onProgress: onBatch,
    });
    const known = results.get(work.key);
    if (known !== undefined)
      return { outcome: 'known', evidence: known.evidence, isNew: known.outcome === 'tuned' };
    if (signal.aborted) return { outcome: 'stopped' };
    const vain = undecided.get(work.key);
    if (vain !== undefined) return { outcome: 'undecided', reason: whyUndecided(vain) };
    return whyNot.code === BUSY.code ? { outcome: 'busy' } : { outcome: 'undecided', reason: whyNot.reason };
  };

function workOf(
  { workload: key, form }: Job,
  store: Store,
  site: Site,
  { settings }: Pick<Surroundings, 'settings'>,
): Work {
  const { target, compiler, device } = placeOf(site);
  const records = store.findRecords([key], target, compiler);
  const alike = recordsOfClass(records, site, store).get(key);
  const own = chooseRecord(records, device, true);
  return {
    key,
    workload: form,
    count: 1,
    options: spaceOptionsOf(NO_PROGRAM, site, settings)({ key }),
    // Who wants it all the same wants more of it.
    ...(own !== null && isUnfinished(own, settings.budgetSeconds) && { goesOnFrom: own }),
    ...(alike !== undefined && !isDefault(alike.configuration) && { alike }),
  };
}
