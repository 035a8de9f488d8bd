// The state of the queues, and retries of dead jobs.
import { isObject } from '../system/data.ts';
import { UserError } from '../system/user-error.ts';
import { openBoss, QUEUE_SCHEMA } from './boss.ts';
import type { QueueDatabase } from './database.ts';
import type { Place } from './job.ts';
import { DEAD, machinesIn } from './queue.ts';

/** Job counts of one target, compiler and class of devices. */
export interface QueueState extends Place {
  readonly waiting: number;
  /** Waiting jobs that failed before. */
  readonly retried: number;
  readonly active: number;
  /** Completed with a result in the last hour. */
  readonly done: number;
  /** Median seconds of these; null for none. */
  readonly secondsEach: number | null;
}

export interface DeadJob extends Place {
  readonly id: string;
  readonly workload: string;
  readonly attempts: number;
  /** Machines on which it failed, which do not try it again; empty for a job of an earlier version. */
  readonly machines: readonly string[];
  /** Of the last failure. */
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly since: string;
}

/** Texts of an untrusted job; `?` for a missing one. */
const textsOf = <Name extends string>(data: unknown, ...names: readonly Name[]) =>
  Object.fromEntries(
    names.map((name) => {
      const text = isObject(data) ? data[name] : undefined;
      return [name, typeof text === 'string' ? text : '?'];
    }),
  ) as Record<Name, string>;

/** Rejects with `ServerError`. */
export async function queueStates(database: QueueDatabase): Promise<QueueState[]> {
  const rows = await database.rows(`
    SELECT (array_agg(data ORDER BY created_on DESC))[1] AS data,
      count(*) FILTER (WHERE state IN ('created', 'retry'))::integer AS waiting,
      count(*) FILTER (WHERE state = 'retry')::integer AS retried,
      count(*) FILTER (WHERE state = 'active')::integer AS active,
      count(*) FILTER (WHERE is_done)::integer AS done,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM completed_on - started_on))
        FILTER (WHERE is_done AND started_on IS NOT NULL) AS "secondsEach"
    FROM ${QUEUE_SCHEMA}.job
    -- A job that nobody wanted any more completes without a ratio.
    CROSS JOIN LATERAL (
      SELECT state = 'completed' AND output->'ratio' IS NOT NULL AND completed_on > now() - interval '1 hour'
    ) AS finished (is_done)
    WHERE name <> '${DEAD}' GROUP BY name ORDER BY name`);
  return rows.map(({ data, ...counts }) => ({
    ...textsOf(data, 'target', 'compiler', 'device'),
    ...(counts as unknown as Omit<QueueState, keyof Place>),
  }));
}

/** A job that a worker does. */
export interface ActiveJob extends Place {
  readonly workload: string;
  readonly machine: string;
  /** Seconds since it was taken, and since the worker's last sign. */
  readonly seconds: number;
  readonly silent: number;
}

/** Rejects with `ServerError`. */
export async function activeJobs(database: QueueDatabase): Promise<ActiveJob[]> {
  const rows = await database.rows(`
    SELECT data, group_id AS machines, extract(epoch FROM now() - started_on)::float AS seconds,
      extract(epoch FROM now() - heartbeat_on)::float AS silent
    FROM ${QUEUE_SCHEMA}.job WHERE state = 'active' ORDER BY started_on, id`);
  return rows.map(({ data, machines, seconds, silent }) => ({
    ...textsOf(data, 'workload', 'target', 'compiler', 'device'),
    machine: machinesIn(machines).at(-1) ?? '?',
    seconds: Number(seconds),
    silent: Number(silent),
  }));
}

/** Rejects with `ServerError`. */
export async function deadJobs(database: QueueDatabase): Promise<DeadJob[]> {
  const rows = await database.rows(`
    SELECT id::text AS id, data, output, source_retry_count AS retries, group_id AS machines, created_on AS since
    FROM ${QUEUE_SCHEMA}.job WHERE name = '${DEAD}' AND state < 'active' ORDER BY created_on, id`);
  return rows.map(({ id, data, output, retries, machines, since }) => ({
    id: String(id),
    ...textsOf(data, 'workload', 'target', 'compiler', 'device'),
    attempts: Number(retries) + 1,
    machines: machinesIn(machines),
    reason: reasonOf(output),
    since: (since as Date).toISOString(),
  }));
}

/** The reason from a worker, or from the library for a silent worker. */
function reasonOf(output: unknown): string {
  const said = isObject(output) ? (output['reason'] ?? output['value'] ?? output) : output;
  if (typeof said === 'string') return said;
  return isObject(said) && typeof said['message'] === 'string' ? said['message'] : 'no reason given';
}

/**
 * Moves dead jobs back to their queues. Returns their ids.
 * @param id prefix of the id of one job; all jobs without it
 * @throws UserError if no job or several jobs have the prefix
 */
export async function retryDead(database: QueueDatabase, id?: string): Promise<string[]> {
  const boss = await openBoss(database);
  try {
    const dead = await boss.findJobs<object>(DEAD, { queued: true });
    const chosen = id === undefined ? dead : dead.filter((job) => job.id.startsWith(id));
    if (id !== undefined && chosen.length !== 1)
      throw new UserError(
        chosen.length === 0
          ? `no dead job has an id that begins with ${id}: iree-tuned team queue lists them`
          : `${chosen.length} dead jobs have ids that begin with ${id}: give more digits`,
      );
    for (const { id: own, data, priority, singletonKey, sourceName } of chosen) {
      // Send before delete, so a crash between them loses no job. The queue drops a duplicate.
      if (sourceName !== null && singletonKey !== null)
        await boss.send(sourceName, data, { priority, singletonKey });
      await boss.deleteJob(DEAD, own);
    }
    return chosen.map((job) => job.id);
  } finally {
    await boss.stop({ graceful: false });
  }
}
