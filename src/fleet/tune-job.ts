// Does one job. Of a workload: the search that a build does, without a program. Of a program: `iree-tuned tune` in a process of its own,
// which can be ended, with the worker's own flags.
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
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
import { startChild } from '../system/child.ts';
import { formatRatio } from '../system/format.ts';
import { fileSha256 } from '../system/hash.ts';
import { afterSeconds, onAbort } from '../system/limits.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { tuneWorkloads, type Work } from '../tuning/tune-workloads.ts';
import { isUnfinished, whyUndecided } from '../tuning/undecided.ts';
import type { Job, ProgramFile } from './job.ts';

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
    using store = await storeNow();
    const work = workOf(job, store, site, surroundings);
    const { results, undecided, whyNot } = await tuneWorkloads([work], store, site, tools, surroundings, {
      budgetSeconds,
      givenSeconds: budgetSeconds,
      patienceSeconds: PATIENCE_SECONDS,
      signal,
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

export interface ProgramMeans {
  /** Folder of the models; null if there is none. */
  readonly models: string | null;
  /** The command `iree-tuned`. */
  readonly executable: string;
  /** Flags of the compiler. */
  readonly flags: readonly string[];
  /** Environment with the worker's settings and this budget. */
  readonly envFor: (budgetSeconds: number) => Readonly<Record<string, string | undefined>>;
}

/** Seconds for the compiles and runs that no budget limits. */
const MARGIN_SECONDS = 1800;

export async function tuneProgramFile(
  program: ProgramFile,
  budgetSeconds: number,
  { models, executable, flags, envFor }: ProgramMeans,
  signal: AbortSignal,
): Promise<JobResult> {
  let path: string;
  try {
    path = fileBelow(models, program);
  } catch (error) {
    return { outcome: 'undecided', reason: messageOf(error) };
  }
  const { code, cut, stdout, stderr } = await startChild(executable, ['tune', path, '--', ...flags], {
    ...{ env: envFor(budgetSeconds), group: 'own', stdin: 'ignore', output: 'pipe' },
    limits: [onAbort(signal), afterSeconds(budgetSeconds + MARGIN_SECONDS)],
  }).ended;
  if (signal.aborted) return { outcome: 'stopped' };
  const log = [stderr, stdout].map((text) => text.toString().trim()).filter((text) => text !== '');
  if (code === 0) return { outcome: 'done', summary: 'tuned', log };
  const why = cut === 'late' ? 'it did not end in time' : log[0]?.split('\n').at(-1);
  return { outcome: 'undecided', reason: why ?? `iree-tuned tune ended with ${code}`, log };
}

/**
 * The file of a job. Authors of the folder choose the programs, so no job leads out of it.
 * @throws for a path that leaves the folder, and for another content
 */
export function fileBelow(models: string | null, { path, sha256 }: ProgramFile): string {
  if (models === null)
    throw new UserError('this worker has no folder of models: start the worker with --models DIR');
  if (isAbsolute(path) || path.split('/').includes('..'))
    throw new UserError(`${path} is not a path below the folder of models`);
  const [root, real] = [realpathSync(models), realpathSync(join(models, path))];
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new UserError(`${path} is a link out of the folder of models`);
  // A pipe would never end.
  if (!statSync(real).isFile()) throw new UserError(`${path} is no file`);
  if (fileSha256(real) !== sha256) throw new UserError(`${path} has changed: its digest is another one`);
  return real;
}
