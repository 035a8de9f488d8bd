// The states of queues, runs and jobs, and their changes by a user.
import { isObject } from '../system/data.ts';
import { UserError } from '../system/user-error.ts';
import { openBoss } from './boss.ts';
import type { ServerDatabase } from './database.ts';
import { jobName, type Place } from './job.ts';
import { JOBS, PAUSED, RUNS } from './queue.ts';

/** Counts of jobs of one target, compiler and class of devices. */
interface Counts {
  readonly waiting: number;
  readonly active: number;
  readonly done: number;
  readonly failed: number;
  /** Connected workers. */
  readonly workers: number;
}

/** `done` counts the last hour. */
export interface QueueState extends Place, Counts {
  /** Median seconds of the jobs that are done; null for none. */
  readonly secondsEach: number | null;
}

/** One submission for one target, compiler and class of devices. */
export interface RunState extends Place, Counts {
  readonly id: string;
  readonly createdBy: string;
  readonly machine: string;
  /** ISO 8601 UTC. */
  readonly since: string;
  readonly cancelled: number;
  /** Estimate by the completed jobs of the run; null without one, or without a worker. */
  readonly secondsLeft: number | null;
}

export interface JobState extends Place {
  readonly id: string;
  /** The workload, or the path of the program. */
  readonly name: string;
  readonly state: 'waiting' | 'active' | 'done' | 'failed' | 'cancelled';
  readonly attempts: number;
  /** Machines that took it. */
  readonly machines: readonly string[];
  /** Of the last failure; null for none. */
  readonly reason: string | null;
  readonly log: string;
  /** Seconds since it was taken, and since the worker's last sign; null for a job that is not active. */
  readonly seconds: number | null;
  readonly silent: number | null;
}

/** Texts of an untrusted object; `?` for a missing one. */
const textsOf = <Name extends string>(data: unknown, ...names: readonly Name[]) =>
  Object.fromEntries(
    names.map((name) => {
      const text = isObject(data) ? data[name] : undefined;
      return [name, typeof text === 'string' ? text : '?'];
    }),
  ) as Record<Name, string>;

const placeIn = (data: unknown): Place => textsOf(data, 'target', 'compiler', 'device');

/** The ids of the jobs of some runs. */
const jobsOf = (condition: string): string =>
  `SELECT value::uuid FROM ${JOBS} AS one, jsonb_array_elements_text(one.data->'jobs') WHERE one.name = '${RUNS}' AND ${condition}`;

const IS_JOB = `name NOT IN ('${RUNS}', '${PAUSED}')`;

/** A worker's connection has the name of its queue. */
const WORKERS = `
  SELECT count(*)::integer AS workers FROM pg_stat_activity
  WHERE datname = current_database() AND application_name =`;

export async function queueStates(database: ServerDatabase): Promise<QueueState[]> {
  const rows = await database.rows(`
    SELECT counts.data, waiting, active, failed, done, "secondsEach", workers FROM (
      SELECT name, (array_agg(data ORDER BY created_on DESC))[1] AS data,
        count(*) FILTER (WHERE state < 'active')::integer AS waiting,
        count(*) FILTER (WHERE state = 'active')::integer AS active,
        count(*) FILTER (WHERE state = 'failed')::integer AS failed,
        count(*) FILTER (WHERE is_done)::integer AS done,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM completed_on - started_on))
          FILTER (WHERE is_done AND started_on IS NOT NULL) AS "secondsEach"
      FROM ${JOBS} CROSS JOIN LATERAL (
        SELECT state = 'completed' AND completed_on > now() - interval '1 hour'
      ) AS finished (is_done)
      WHERE ${IS_JOB} GROUP BY name
    ) AS counts CROSS JOIN LATERAL (${WORKERS} counts.name) AS serving ORDER BY counts.name`);
  return rows.map(({ data, ...counts }) => ({
    ...placeIn(data),
    ...(counts as unknown as Omit<QueueState, keyof Place>),
  }));
}

/** Runs, the latest first. @param id of the only one. Rejects with `ServerError` */
export async function runStates(database: ServerDatabase, id: string | null = null): Promise<RunState[]> {
  const rows = await database.rows(
    `SELECT run.id::text AS id, run.data - 'jobs' AS data, run.created_on AS since, counts.*, workers
     FROM ${JOBS} AS run CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE state < 'active')::integer AS waiting,
         count(*) FILTER (WHERE state = 'active')::integer AS active,
         count(*) FILTER (WHERE state = 'completed')::integer AS done,
         count(*) FILTER (WHERE state = 'failed')::integer AS failed,
         count(*) FILTER (WHERE state = 'cancelled')::integer AS cancelled,
         extract(epoch FROM avg(completed_on - started_on) FILTER (WHERE state = 'completed'))::float AS "secondsEach"
       FROM ${JOBS} WHERE name = run.data->>'queue' AND id IN (${jobsOf('one.id = run.id')})
     ) AS counts CROSS JOIN LATERAL (${WORKERS} run.data->>'queue') AS serving
     WHERE run.name = '${RUNS}' AND ($1::uuid IS NULL OR run.id = $1) ORDER BY run.created_on DESC, run.id`,
    [id],
  );
  return rows.map(({ id: own, data, since, secondsEach, ...counts }) => {
    const run = counts as unknown as Counts & Pick<RunState, 'cancelled'>;
    const { waiting, active, workers } = run;
    // An active job is half done on average.
    const isKnown = typeof secondsEach === 'number' && workers > 0;
    const secondsLeft = isKnown ? Math.ceil(((waiting + active / 2) * secondsEach) / workers) : null;
    return {
      ...{ id: String(own), ...placeIn(data), ...textsOf(data, 'createdBy', 'machine') },
      ...{ since: (since as Date).toISOString(), ...run, secondsLeft },
    };
  });
}

/** Whether a job is $1, or of the run $1. */
const IS_OF_ID = `(id = $1 OR id IN (${jobsOf('one.id = $1')}))`;

/** Jobs of a run, or one job; without an id, all active and failed jobs. Rejects with `ServerError`. */
export async function jobStates(database: ServerDatabase, id: string | null = null): Promise<JobState[]> {
  const rows = await database.rows(
    `SELECT id::text AS id, data, group_id AS machines, retry_count + 1 AS attempts, output,
       CASE WHEN state < 'active' THEN 'waiting' WHEN state = 'completed' THEN 'done' ELSE state::text END AS state,
       CASE WHEN state = 'active' THEN extract(epoch FROM now() - started_on)::float END AS seconds,
       CASE WHEN state = 'active' THEN extract(epoch FROM now() - heartbeat_on)::float END AS silent
     FROM ${JOBS} WHERE ${IS_JOB} AND CASE
       WHEN $1::uuid IS NULL THEN state IN ('active', 'failed')
       ELSE ${IS_OF_ID}
     END
     ORDER BY started_on, priority DESC, created_on, id`,
    [id],
  );
  return rows.map(({ data, output, machines, ...rest }) => ({
    ...(rest as unknown as Pick<JobState, 'id' | 'state' | 'attempts' | 'seconds' | 'silent'>),
    ...{ ...placeIn(data), name: jobName(data), machines: machinesIn(machines), reason: reasonOf(output) },
    log: isObject(output) && typeof output['log'] === 'string' ? shown(output['log']) : '',
  }));
}

/** Names of machines in the text of `group_id`. */
const machinesIn = (takenBy: unknown): string[] =>
  typeof takenBy === 'string'
    ? (takenBy.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((text) => text.slice(1, -1))
    : [];

/** The reason from a worker, or from the library for a silent worker. */
function reasonOf(output: unknown): string | null {
  const said = isObject(output) ? (output['reason'] ?? output['value'] ?? output) : null;
  const text = isObject(said) ? said['message'] : said;
  return typeof text === 'string' ? shown(text) : null;
}

/** A text of a program's tools, without control characters for the terminal. */
const shown = (text: string): string => text.replaceAll(/[^\P{C}\n]/gu, ' ');

/**
 * The id of a run or job by its beginning.
 * @throws UserError if none or several begin so
 */
export async function idOf(database: ServerDatabase, beginning: string): Promise<string> {
  const found = await database.rows(
    `SELECT id::text AS id FROM ${JOBS} WHERE starts_with(id::text, $1) AND name <> '${PAUSED}'`,
    [beginning.toLowerCase()],
  );
  if (found.length === 1) return String(found[0]!['id']);
  throw new UserError(
    found.length === 0
      ? `no run or job has an id that begins with ${beginning}: iree-tuned team runs lists them`
      : `${found.length} runs or jobs have ids that begin with ${beginning}: give more digits`,
  );
}

/**
 * Cancels a job, or a run with the jobs that no other run wants. Workers notice at their next heartbeat.
 * @returns the ids of the cancelled jobs
 */
export async function cancel(database: ServerDatabase, id: string): Promise<string[]> {
  await using boss = await openBoss(database);
  await boss.cancel(RUNS, id);
  const condition = `state < 'completed' AND (id = $1 OR id NOT IN (${jobsOf(`one.state < 'active'`)}))`;
  return await forJobs(database, id, condition, (name, ids) => boss.cancel(name, ids));
}

/**
 * Tries failed jobs once more.
 * @param id of a run or a job; null for all jobs
 * @returns the ids of the jobs
 */
export async function retry(database: ServerDatabase, id: string | null): Promise<string[]> {
  await using boss = await openBoss(database);
  return await forJobs(database, id, `state = 'failed'`, (name, ids) => boss.retry(name, ids));
}

/** Pauses all queues: workers finish their jobs and take no other. */
export async function pause(database: ServerDatabase): Promise<void> {
  await using boss = await openBoss(database);
  await boss.send(PAUSED, {}, { singletonKey: PAUSED });
}

export async function resume(database: ServerDatabase): Promise<void> {
  await using boss = await openBoss(database);
  await boss.deleteAllJobs(PAUSED);
}

export const isPaused = async (database: ServerDatabase): Promise<boolean> =>
  (await database.rows(`SELECT FROM ${JOBS} WHERE name = '${PAUSED}' AND state < 'active'`)).length > 0;

/** Changes jobs of each queue. @returns their ids */
async function forJobs(
  database: ServerDatabase,
  id: string | null,
  condition: string,
  change: (name: string, ids: string[]) => Promise<unknown>,
): Promise<string[]> {
  const rows = await database.rows(
    `SELECT name, id::text AS id FROM ${JOBS} WHERE ${IS_JOB} AND ${condition} AND ($1::uuid IS NULL OR ${IS_OF_ID})`,
    [id],
  );
  for (const [name, own] of Map.groupBy(rows, ({ name: queue }) => String(queue)))
    await change(
      name,
      own.map((row) => String(row['id'])),
    );
  return rows.map((row) => String(row['id']));
}
