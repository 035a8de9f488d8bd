// Does one job: the same search that a build does, for one workload without a program.
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
  /** There is a record; `isNew` if this search wrote it. */
  | { readonly outcome: 'known'; readonly evidence: Evidence; readonly isNew: boolean }
  | { readonly outcome: 'undecided'; readonly reason: string }
  /** Another process measures on this machine. */
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'stopped' };

export interface JobOptions {
  /** Ends the search at once. The store keeps the trials. */
  readonly signal: AbortSignal;
  /** Called after each batch of trials in the store. */
  readonly onBatch: () => void;
}

/** Does one job. Its record and trials are in the store. */
export type DoJob = (job: Job, options: JobOptions) => Promise<JobResult>;

/** How long the search waits for the measuring lock. */
const PATIENCE_SECONDS = 5;

/** Context of a workload without a program. */
const NO_PROGRAM = {
  operations: [],
  reading: { dataTiling: false, ownPreprocessing: false, ownPipeline: false },
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
    // The demand for a known workload asks for a longer search.
    ...(own !== null && isUnfinished(own, settings.budgetSeconds) && { goesOnFrom: own }),
    ...(alike !== undefined && !isDefault(alike.configuration) && { alike }),
  };
}
