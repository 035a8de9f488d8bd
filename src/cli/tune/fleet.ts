// Hands the work of `iree-tuned tune --fleet` to the fleet's workers, and waits for the records in the team's base.
import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runJob } from '../../base/job.ts';
import { jobFor } from '../../base/start.ts';
import { recordsOfClass } from '../../decision/same-class.ts';
import { ServerError, type ServerDatabase } from '../../fleet/database.ts';
import { placeOfWorker, whyNotAlone, type ProgramFile } from '../../fleet/job.ts';
import { runStates } from '../../fleet/overview.ts';
import { openQueue, type PlannedJob } from '../../fleet/queue.ts';
import { describeProgram } from '../../populate/describe.ts';
import { executorHere } from '../../populate/executor.ts';
import { isUnfinished, type Planned } from '../../populate/plan.ts';
import { SURVEYED_AT_ONCE, type Populated } from '../../populate/populate.ts';
import type { PopulationRequest, RequestPlan } from '../../populate/request.ts';
import type { PopulationSite } from '../../populate/site.ts';
import { lineDisplay } from '../../report/progress.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import type { Site } from '../../site/site.ts';
import { chooseRecord } from '../../store/choose.ts';
import { batches } from '../../store/exchange/files.ts';
import type { Store, TuningRecord } from '../../store/store.ts';
import { placeOf } from '../../store/subject.ts';
import { counted } from '../../system/format.ts';
import { fileSha256 } from '../../system/hash.ts';
import { because } from '../../system/reason.ts';
import { openWithBases } from '../database.ts';
import { siteAt } from '../input.ts';
import { interrupts } from '../interrupt.ts';
import { warn } from '../output.ts';
import { describeLeft, runWithJobs, type RunWithJobs } from '../team/queue.ts';
import { fleetDatabase } from '../team/server.ts';
import type { TimedRun } from './here.ts';
import type { TuneOptions } from './tune.ts';

/** Interval between two looks at the queue, in milliseconds. */
const LOOK_MS = 3000;

/** The site of a build, measurable by workers. */
export const atFleet = (at: PopulationSite, store: Store, surroundings: Surroundings): PopulationSite => ({
  ...at,
  site: { ...siteAt(at.site, store, surroundings), whyNotHere: null },
});

/** Asks the bases, whose records need no work. */
export const catchUp = (sites: readonly Site[], surroundings: Surroundings): Promise<void> =>
  runJob(jobFor({ places: sites.map(placeOf) }, surroundings));

/**
 * Splits a request: workers tune programs below their folder of models as wholes. Of other programs they tune the workloads that a job
 * describes.
 * @param models the folder; null if there is none
 */
export function splitForFleet(
  request: PopulationRequest,
  models: string | null,
): { readonly whole: readonly ProgramFile[]; readonly rest: PopulationRequest } {
  const root = models === null ? null : `${realpathSync(models)}${sep}`;
  const isBelow = ({ path }: { readonly path: string }) =>
    root !== null && realpathSync(path).startsWith(root);
  return {
    whole: request.programs.filter(isBelow).map(({ path }) => ({
      path: relative(root!, realpathSync(path)),
      sha256: fileSha256(path),
    })),
    rest: { ...request, programs: request.programs.filter((program) => !isBelow(program)) },
  };
}

/**
 * Submits one run for each site, and follows the runs. Workers go on after Ctrl-C.
 * @param priority of all jobs; by default how often programs have a workload
 * @returns no results for a detached run
 */
export async function runOnFleet(
  plan: RequestPlan,
  whole: readonly ProgramFile[],
  run: TimedRun,
  { detach: isDetached = false, priority }: Pick<TuneOptions, 'detach' | 'priority'>,
) {
  const { sites, knowledge, budgetSeconds } = run;
  const { surroundings } = knowledge;
  for (const one of plan.programs)
    warn(
      `${one.source}: workers leave ${describeProgram(one)} out: put the program below the folder --models`,
    );
  const found = await surveyed(plan.todo, run);
  const isOpen = ({ standing, work }: Planned) =>
    (standing.kind === 'new' || isUnfinished({ standing })) && whyNotAlone(work.workload) === null;
  using database = fleetDatabase(surroundings);
  const ids: string[] = [];
  for (const [index, { site }] of sites.entries()) {
    const place = placeOfWorker(site);
    const common = { version: 1, ...place, ...(budgetSeconds !== undefined && { budgetSeconds }) } as const;
    const jobs: PlannedJob[] = [
      ...found
        .filter((one) => one.site === index && isOpen(one))
        .map(({ work }) => ({
          job: { ...common, workload: work.key, form: work.workload },
          priority: priority ?? work.count,
        })),
      ...whole.map((program) => ({ job: { ...common, program }, priority: priority ?? 1 })),
    ];
    if (jobs.length === 0) continue;
    const queue = await openQueue(database, place);
    const id = await queue.submit(jobs, surroundings.settings.author).finally(() => queue.close());
    ids.push(id);
    warn(`run ${id.slice(0, 8)} has ${counted(jobs.length, 'job')}`);
    await warnWithoutWorker(database, id);
  }
  if (!isDetached) await follow(database, ids);
  const runs = await Promise.all(ids.map((id) => runWithJobs(database, id)));
  if (isDetached) return { results: null, runs };
  return { results: await resultsOf(found, runs, run), runs };
}

async function warnWithoutWorker(database: ServerDatabase, id: string): Promise<void> {
  const [run] = await runStates(database, id);
  if (run?.workers === 0)
    warn(`no worker serves ${run.device}, ${run.target}, ${run.compiler} now: jobs wait for 30 days`);
}

/** The work with its final keys: a shape gets its key from the compiler. */
async function surveyed(todo: readonly Planned[], run: TimedRun): Promise<Planned[]> {
  const { sites, knowledge, folder } = run;
  const executor = executorHere(sites, knowledge, { tools: null, folder, jobs: 1 });
  const found: Planned[] = [];
  for (const own of Map.groupBy(todo, ({ site }) => site).values())
    for (const some of batches(own, SURVEYED_AT_ONCE)) found.push(...(await executor.prepare(some)));
  return found;
}

/** Shows the progress until no job is open, or Ctrl-C. */
async function follow(database: ServerDatabase, ids: readonly string[]): Promise<void> {
  const display = lineDisplay();
  let last = '';
  const look = async (id: string): Promise<boolean> => {
    const [run] = await runStates(database, id);
    if (run === undefined) return false;
    const { waiting, active, done, failed, cancelled } = run;
    const rest = waiting + active;
    const ended = `${done} of ${rest + done + failed + cancelled} done, ${failed} failed`;
    const line = `run ${id.slice(0, 8)}: ${ended}, ${active} active, left: ${describeLeft(run)}`;
    display.show(`iree-tuned: ${line}`);
    if (!display.isLive && ended !== last) warn(line);
    last = ended;
    return rest > 0;
  };
  using signals = interrupts();
  const { finishEarly } = signals;
  try {
    for (const id of ids) {
      let isOpen = true;
      while (isOpen && !finishEarly.aborted) {
        isOpen = await look(id).catch((error: unknown) => {
          // Workers go on while the server is away.
          if (error instanceof ServerError && error.kind === 'unreachable') return true;
          throw error;
        });
        if (isOpen) await sleep(LOOK_MS, undefined, { signal: finishEarly }).catch(() => undefined);
      }
      if (isOpen) warn(`the workers go on: iree-tuned team runs ${id.slice(0, 8)} shows their progress`);
    }
  } finally {
    display.clear();
  }
}

/** The records of the base after a run, or the reason for none. */
async function resultsOf(
  found: readonly Planned[],
  runs: readonly RunWithJobs[],
  { sites, knowledge: { surroundings } }: TimedRun,
): Promise<Populated[]> {
  await catchUp(
    sites.map(({ site }) => site),
    surroundings,
  );
  const records = await Promise.all(
    sites.map(async ({ site }, index) => {
      const keys = found.filter((one) => one.site === index).map(({ work }) => work.key);
      using store = await openWithBases(site, surroundings);
      return store === null ? new Map<string, TuningRecord>() : recordsFor(keys, site, store);
    }),
  );
  const jobs = new Map(runs.flatMap((one) => one.jobs.map((job) => [job.name, job])));
  return found.map((planned) => {
    const { work, standing, site, result: before } = planned;
    const { key } = work;
    const result = records[site]!.get(key) ?? before;
    const wasKnown = result !== null && result.evidence.tuningSeconds === before?.evidence.tuningSeconds;
    const job = jobs.get(key);
    const reason =
      standing.kind === 'skipped'
        ? standing.reason
        : (whyNotAlone(work.workload) ??
          (job?.state === 'done' ? NO_RECORD : (job?.reason ?? because('job-pending').reason)));
    return { planned, key, result, wasKnown, reason: result === null ? reason : '' };
  });
}

const NO_RECORD =
  'a worker has finished its job, but the base has no record of it: the setting "team" must name one base there and here';

/** The records that builds for this device use, those of its class included, by workload key. */
function recordsFor(keys: readonly string[], site: Site, store: Store): Map<string, TuningRecord> {
  const { target, compiler, device } = placeOf(site);
  const records = store.findRecords(keys, target, compiler);
  const found = new Map(recordsOfClass(records, site, store));
  for (const [key, some] of Map.groupBy(records, ({ workload }) => workload)) {
    const own = chooseRecord(some, device, true);
    if (own !== null) found.set(key, own);
  }
  return found;
}
