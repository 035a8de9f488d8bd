// Does one job: of a workload, the search that a build does, without a program.
import { spaceOptionsOf } from '../decision/space-options.ts';
import { recordsOfClass } from '../decision/same-class.ts';
import { isDefault } from '../backend/configuration.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { BUSY } from '../site/turn.ts';
import { chooseRecord } from '../store/choose.ts';
import type { Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { formatRatio } from '../system/format.ts';
import { tuneWorkloads, type Work } from '../tuning/tune-workloads.ts';
import { isUnfinished, whyUndecided } from '../tuning/undecided.ts';
import type { Job } from './job.ts';
import { tuneProgramFile, type ProgramMeans } from './tune-program.ts';

export type JobResult =
  | { readonly outcome: 'done'; readonly summary: string; readonly log?: readonly string[] }
  | { readonly outcome: 'undecided'; readonly reason: string; readonly log?: readonly string[] }
  /** Another process measures on this machine. */
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'stopped' };

/**
 * Does one job. Its records and trials are in the store.
 * @param signal ends the search at once; the store keeps the trials
 */
export type DoJob = (job: Job, signal: AbortSignal) => Promise<JobResult>;

/** How long the search waits for the measuring lock. */
const PATIENCE_SECONDS = 5;

/** Context of a workload without a program. */
const NO_PROGRAM = {
  operations: [],
  reading: { dataTiling: false, ownPreprocessing: false, ownPipeline: false },
};

/** @param storeNow the database with the base as it is at the beginning of a job */
export const jobsAt =
  (
    storeNow: () => Promise<Store>,
    site: Site,
    tools: MeasuringTools,
    own: Surroundings,
    programs: ProgramMeans,
  ): DoJob =>
  async (job, signal) => {
    const { budgetSeconds = own.settings.budgetSeconds } = job;
    if ('program' in job) return tuneProgramFile(job.program, budgetSeconds, programs, signal);
    const surroundings = { ...own, settings: { ...own.settings, budgetSeconds } };
    const store = await storeNow();
    const work = workOf(job, store, site, surroundings);
    const { results, undecided, whyNot } = await tuneWorkloads([work], store, site, tools, surroundings, {
      budgetSeconds,
      givenSeconds: budgetSeconds,
      patienceSeconds: PATIENCE_SECONDS,
      signal,
    }).finally(() => {
      store.close();
    });
    const known = results.get(work.key);
    if (known !== undefined) {
      const note = known.outcome === 'tuned' ? '' : ' (known already)';
      return { outcome: 'done', summary: `${formatRatio(known.evidence.ratio)}${note}` };
    }
    if (signal.aborted) return { outcome: 'stopped' };
    const vain = undecided.get(work.key);
    if (vain !== undefined) return { outcome: 'undecided', reason: whyUndecided(vain) };
    return whyNot.code === BUSY.code ? { outcome: 'busy' } : { outcome: 'undecided', reason: whyNot.reason };
  };

function workOf(
  { workload: key, form }: Extract<Job, { workload: string }>,
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
    // A job for a known workload asks for a longer search.
    ...(own !== null && isUnfinished(own, settings.budgetSeconds) && { goesOnFrom: own }),
    ...(alike !== undefined && !isDefault(alike.configuration) && { alike }),
  };
}
