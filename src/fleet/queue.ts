// The jobs of one target, compiler and class of devices. Lost jobs do no harm: whoever wants their workloads submits them again.
import type { PgBoss } from 'pg-boss';
import { ownOrigin } from '../store/author.ts';
import { HEARTBEAT_SECONDS, openBoss, QUEUE_SCHEMA, RETRY_SECONDS } from './boss.ts';
import type { QueueDatabase } from './database.ts';
import { jobKey, queueName, type Job, type Place } from './job.ts';

/** Queue of jobs that failed too often. */
export const DEAD = 'dead';

/** Time limit of a job. A worker ends long before. */
const LONGEST_JOB_SECONDS = 6 * 3600;

/** Retries of a failed job. */
const MOST_RETRIES = 4;

/** How long completed jobs stay, for `iree-tuned team queue`. */
const DONE_SECONDS = 24 * 3600;

/** Largest value of the priority's column. */
const HIGHEST_PRIORITY = 2 ** 31 - 1;

const JOBS = `${QUEUE_SCHEMA}.job`;

/** A job that a worker took. It stays the worker's while the worker touches it. */
export interface TakenJob {
  readonly id: string;
  /** Untrusted. */
  readonly data: unknown;
  /** `jobKey` of its workload. */
  readonly key: string | null;
  /** When it was taken, to the microsecond. It tells two takers of the same job apart. */
  readonly startedOn: string;
  /** The machines that took it before, as the column stores them. */
  readonly takenBy: string | null;
}

export interface PlannedJob {
  readonly job: Job;
  /** Jobs with a higher priority come first: how often programs have the workload. */
  readonly priority: number;
}

/** State of the last job for a workload. */
export interface JobState {
  /** `open`: waiting, or a worker does it. */
  readonly state: 'open' | 'done' | 'dead';
  /** Why it is dead; else null. */
  readonly reason: string | null;
  readonly id: string;
}

export interface Queue {
  /** Adds jobs that are neither queued nor dead on this machine, and sets their priorities. Returns how many it added. */
  plan(planned: readonly PlannedJob[]): Promise<number>;
  /**
   * Takes the job with the highest priority that is not dead on this machine; null for none.
   * @param deferred keys of jobs to skip
   */
  take(deferred?: readonly string[]): Promise<TakenJob | null>;
  /** Sends a heartbeat. Returns false if another worker may have the job. */
  touch(job: TakenJob): Promise<boolean>;
  /** Completes the job, even if another worker has it, and removes its dead copies. */
  complete(job: TakenJob, outcome: Readonly<Record<string, unknown>>): Promise<void>;
  /** Schedules a retry. After the last one the job is dead for the machines that took it. */
  fail(job: TakenJob, reason: string): Promise<void>;
  /** Undoes the take. */
  handBack(job: TakenJob): Promise<void>;
  /** States of jobs, by `jobKey` of the workload; none for a workload without a job. */
  states(): Promise<ReadonlyMap<string, JobState>>;
  /** Frees the jobs of silent workers, and removes old jobs. */
  supervise(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the queue of a place, and creates it if needed. Rejects with `ServerError` and `UserError`.
 * @param machine name of this machine: jobs die for one machine at a time
 */
export async function openQueue(
  database: QueueDatabase,
  place: Place,
  machine: string = ownOrigin().machine,
): Promise<Queue> {
  const boss = await openBoss(database);
  const name = queueName(place);
  const own = JSON.stringify(machine);
  await boss.createQueue(name, {
    policy: 'exclusive',
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: LONGEST_JOB_SECONDS,
    retryLimit: MOST_RETRIES,
    retryDelay: RETRY_SECONDS,
    retryBackoff: true,
    retryDelayMax: 600,
    deleteAfterSeconds: DONE_SECONDS,
    deadLetter: DEAD,
  });
  const deadHere = async () => {
    const rows = await database.rows(DEAD_HERE, [name, own]);
    return new Set(rows.map(({ key }) => key));
  };
  const isOurs = async ({ id, startedOn }: TakenJob) =>
    (await database.rows(`SELECT FROM ${JOBS} WHERE ${IS_TAKEN}`, [name, id, startedOn])).length > 0;
  return {
    plan: async (planned) => plan(boss, name, planned, await deadHere()),
    async take(deferred = []) {
      const [job] = await database.rows(TAKE, [name, own, deferred]);
      return job === undefined ? null : (job as unknown as TakenJob);
    },
    async touch(job) {
      await boss.touch(name, job.id);
      return isOurs(job);
    },
    async complete({ id, key }, outcome) {
      await boss.complete(name, id, outcome, { includeQueued: true });
      await database.rows(`DELETE FROM ${JOBS} WHERE ${IS_DEAD} AND singleton_key = $2`, [name, key]);
    },
    async fail(job, reason) {
      if (await isOurs(job)) await boss.fail(name, job.id, { reason });
    },
    async handBack({ id, startedOn, takenBy }) {
      await database.rows(HAND_BACK, [name, id, startedOn, takenBy]);
    },
    async states() {
      const rows = (await database.rows(STATES, [name])) as unknown as (JobState & {
        readonly key: string;
      })[];
      return new Map(rows.map(({ key, ...state }) => [key, state]));
    },
    async supervise() {
      await boss.supervise(name);
      await database.rows(`DELETE FROM ${JOBS} WHERE name = '${DEAD}' AND keep_until < now()`);
    },
    async close() {
      await boss.stop({ graceful: false });
    },
  };
}

// pg-boss does not record the machines that took a job. The statements below keep their names as JSON texts in `group_id`: pg-boss
// copies that column to retries and dead jobs, and we use no groups.

const IS_TAKEN = `name = $1 AND id = $2 AND state = 'active' AND started_on = $3::timestamptz`;

const IS_DEAD = `name = '${DEAD}' AND state < 'active' AND source_name = $1`;

/** A dead job of an earlier version has no machine: it is dead on all. */
const DEAD_HERE = `
  SELECT singleton_key AS key FROM ${JOBS} WHERE ${IS_DEAD} AND (group_id IS NULL OR strpos(group_id, $2) > 0)`;

const TAKE = `
  WITH next AS (
    SELECT id, group_id FROM ${JOBS}
    WHERE name = $1 AND state < 'active' AND NOT blocked AND start_after <= now()
      AND coalesce(singleton_key, '') <> ALL ($3::text[])
      AND coalesce(singleton_key, '') NOT IN (${DEAD_HERE} AND singleton_key IS NOT NULL)
    ORDER BY priority DESC, created_on LIMIT 1
    FOR UPDATE SKIP LOCKED
  )
  UPDATE ${JOBS} AS job SET
    state = 'active', started_on = clock_timestamp(), heartbeat_on = now(),
    retry_count = retry_count + CASE WHEN started_on IS NULL THEN 0 ELSE 1 END,
    group_id = CASE WHEN strpos(coalesce(job.group_id, ''), $2) > 0 THEN job.group_id ELSE concat_ws(' ', job.group_id, $2::text) END
  FROM next WHERE job.name = $1 AND job.id = next.id
  RETURNING job.id::text AS id, job.data, job.singleton_key AS key, job.started_on::text AS "startedOn", next.group_id AS "takenBy"`;

/** A job moves to the queue of dead jobs under another id. */
const STATES = `
  SELECT DISTINCT ON (singleton_key) singleton_key AS key, id::text AS id,
    CASE WHEN name = '${DEAD}' THEN 'dead' WHEN state = 'completed' THEN 'done' ELSE 'open' END AS state,
    CASE WHEN name = '${DEAD}' THEN coalesce(output->>'reason', output->>'message', output::text) END AS reason
  FROM ${JOBS}
  WHERE singleton_key IS NOT NULL AND (name = $1 AND state <> 'failed' OR ${IS_DEAD})
  ORDER BY singleton_key, created_on DESC, id`;

const HAND_BACK = `
  UPDATE ${JOBS} SET
    state = CASE WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${QUEUE_SCHEMA}.job_state,
    started_on = CASE WHEN retry_count = 0 THEN NULL ELSE started_on END,
    retry_count = greatest(retry_count - 1, 0), heartbeat_on = NULL, group_id = $4
  WHERE ${IS_TAKEN}`;

/** Names of machines in the text of `group_id`. */
export const machinesIn = (takenBy: unknown): string[] =>
  typeof takenBy === 'string'
    ? (takenBy.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((text) => text.slice(1, -1))
    : [];

async function plan(
  boss: PgBoss,
  name: string,
  planned: readonly PlannedJob[],
  dead: ReadonlySet<unknown>,
): Promise<number> {
  const priorityOf = ({ priority }: PlannedJob) => Math.min(priority, HIGHEST_PRIORITY);
  const waiting = await boss.findJobs(name, { queued: true });
  const known = new Map(waiting.map((job) => [job.singletonKey, job.priority]));
  const fresh = planned.flatMap((one) => {
    const singletonKey = jobKey(one.job.workload);
    if (known.has(singletonKey) || dead.has(singletonKey)) return [];
    return [{ data: one.job, priority: priorityOf(one), singletonKey }];
  });
  // The policy `exclusive` drops jobs that are active or just planned by another worker.
  const added = fresh.length === 0 ? [] : ((await boss.insert(name, fresh, { returnId: true })) ?? []);
  for (const one of planned) {
    const singletonKey = jobKey(one.job.workload);
    const priority = known.get(singletonKey);
    if (priority !== undefined && priority !== priorityOf(one))
      await boss.update(name, undefined, { singletonKey, priority: priorityOf(one) });
  }
  return added.length;
}
