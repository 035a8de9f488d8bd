// The jobs of one target, compiler and class of devices. Lost jobs do no harm: whoever wants their workloads submits them again.
import { ownOrigin } from '../store/author.ts';
import { batches } from '../store/exchange/files.ts';
import { UserError } from '../system/user-error.ts';
import { HEARTBEAT_SECONDS, openBoss, QUEUE_SCHEMA, RETRY_SECONDS } from './boss.ts';
import type { ServerDatabase } from './database.ts';
import { jobKey, LONGEST_JOB_SECONDS, queueName, type Job, type Place } from './job.ts';

/** Queue of runs, which no worker takes: each names the jobs of one submission. */
export const RUNS = 'runs';

/** A job in this queue pauses all other queues. */
export const PAUSED = 'paused';

const MOST_RETRIES = 4;

/** How long jobs and runs wait, and how long they stay after their end. */
const KEPT_SECONDS = 30 * 24 * 3600;

/** Largest value of the priority's column. */
const HIGHEST_PRIORITY = 2 ** 31 - 1;

/** Longest log of a job, in characters. Its beginning is left out. */
const LONGEST_LOG = 2 ** 14;

export const JOBS = `${QUEUE_SCHEMA}.job`;

/** A job that a worker took. It stays the worker's while the worker touches it. */
export interface TakenJob {
  readonly id: string;
  /** Untrusted. */
  readonly data: unknown;
  readonly key: string | null;
  /** When it was taken, to the microsecond. It tells two takers of the same job apart. */
  readonly startedOn: string;
  /** The machines that took it before, as the column stores them. */
  readonly takenBy: string | null;
  /** Log of the earlier attempts. */
  readonly log: string | null;
}

export interface PlannedJob {
  readonly job: Job;
  /** Jobs with a higher priority come first: how often programs have the workload, by default. */
  readonly priority: number;
}

export type Queue = Awaited<ReturnType<typeof openQueue>>;

/**
 * Opens the queue of a place, and creates it if needed. Rejects with `ServerError` and `UserError`.
 * @param machine name of this machine
 */
export async function openQueue(
  database: ServerDatabase,
  place: Place,
  machine: string = ownOrigin().machine,
) {
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
    retentionSeconds: KEPT_SECONDS,
    deleteAfterSeconds: KEPT_SECONDS,
  });
  /** Inserts or updates jobs. @returns the ids of all */
  const upsert = async (planned: readonly PlannedJob[]): Promise<unknown[]> => {
    const wanted = planned.map(({ job, priority }) => ({
      ...{ data: job, singletonKey: jobKey(job) },
      priority: Math.min(priority, HIGHEST_PRIORITY),
    }));
    const failed = await database.rows(FAILED, [name, wanted.map(({ singletonKey }) => singletonKey)]);
    const isFailed = new Set(failed.map(({ key }) => key));
    const fresh = wanted.filter(({ singletonKey }) => !isFailed.has(singletonKey));
    // The policy `exclusive` drops jobs that wait or are active.
    await boss.insert(name, fresh);
    const open = await database.rows(UPDATE, [name, JSON.stringify(fresh)]);
    return [...failed, ...open].map(({ id }) => id);
  };
  const outputOf = ({ log: before }: TakenJob, log: readonly string[]) => ({
    log: [...(before === null ? [] : [before]), `${new Date().toISOString()} on ${machine}`, ...log]
      .join('\n')
      .slice(-LONGEST_LOG),
  });
  return {
    /**
     * Submits jobs as one run. A waiting job for the same work gets the new budget and the higher priority, and a failed one stays failed.
     * @returns the id of the run
     */
    async submit(planned: readonly PlannedJob[], author?: string): Promise<string> {
      const jobs: unknown[] = [];
      for (const batch of batches(planned)) jobs.push(...(await upsert(batch)));
      await boss.supervise(RUNS);
      const { createdBy, machine: on } = ownOrigin(author);
      return (await boss.send(RUNS, { ...place, createdBy, machine: on, queue: name, jobs }))!;
    },
    /**
     * Takes the job with the highest priority; null for none, or if the queue is paused. A machine leaves the retries of its own failures to
     * others for a minute.
     * @param deferred keys of jobs to skip
     */
    async take(deferred: readonly string[] = []): Promise<TakenJob | null> {
      const [job] = await database.rows(TAKE, [name, own, deferred]);
      return job === undefined ? null : (job as unknown as TakenJob);
    },
    /** Sends a heartbeat. `lost`: another worker may have the job. */
    async touch({ id, startedOn }: TakenJob) {
      const [job] = await database.rows(TOUCH, [name, id, startedOn]);
      return (job?.['held'] as 'held' | 'lost' | 'cancelled' | undefined) ?? 'lost';
    },
    /** Completes the job, even if another worker has it, unless it is cancelled. */
    async complete(job: TakenJob, log: readonly string[]): Promise<void> {
      await boss.complete(name, job.id, outputOf(job, log), { includeQueued: true });
    },
    /** Schedules a retry, unless it was the last one. */
    async fail(job: TakenJob, reason: string, log: readonly string[] = []): Promise<void> {
      const { id, startedOn } = job;
      const isOurs = await database.rows(`SELECT FROM ${JOBS} WHERE ${IS_TAKEN}`, [name, id, startedOn]);
      if (isOurs.length > 0)
        await boss.fail(name, id, { ...outputOf(job, [...log, `failed: ${reason}`]), reason });
    },
    /** Undoes the take. */
    async handBack({ id, startedOn, takenBy }: TakenJob): Promise<void> {
      await database.rows(HAND_BACK, [name, id, startedOn, takenBy]);
    },
    /** Frees the jobs of silent workers, and removes old jobs. */
    async supervise(): Promise<void> {
      await boss.supervise(name);
    },
    async close(): Promise<void> {
      await boss.stop({ graceful: false });
    },
  };
}

/** Advisory lock of the installation: "IREt" in ASCII, and a number for the purpose. */
const LOCK = '1230128500, 2';

/**
 * Creates or migrates the queue; a second call changes nothing. The login owns it.
 * @throws UserError if the login may not create the schema
 */
export async function installQueue(database: ServerDatabase): Promise<void> {
  const isTrue = async (text: string) =>
    (await database.rows(`SELECT (${text}) AS value`))[0]?.['value'] === true;
  await database.rows(`SELECT pg_advisory_lock(${LOCK})`);
  try {
    if (await isTrue(`to_regnamespace('${QUEUE_SCHEMA}') IS NULL`)) {
      if (!(await isTrue(`has_database_privilege(current_database(), 'CREATE')`)))
        throw new UserError('this login may not create the schema of the queue: use the login of its owner');
      await database.rows(`CREATE SCHEMA ${QUEUE_SCHEMA}`);
    }
    await using boss = await openBoss(database, true);
    await boss.createQueue(RUNS, { retentionSeconds: KEPT_SECONDS, deleteAfterSeconds: KEPT_SECONDS });
    // Nobody supervises this queue, so a pause does not expire.
    await boss.createQueue(PAUSED, { policy: 'exclusive' });
  } finally {
    await database.rows(`SELECT pg_advisory_unlock(${LOCK})`).catch(() => undefined);
  }
}

// pg-boss does not record the machines that took a job. The statements below keep their names as JSON texts in `group_id`: pg-boss
// copies that column to retries, and we use no groups.

const IS_TAKEN = `name = $1 AND id = $2 AND state = 'active' AND started_on = $3::timestamptz`;

const FAILED = `
  SELECT id::text AS id, singleton_key AS key FROM ${JOBS}
  WHERE name = $1 AND state = 'failed' AND singleton_key = ANY ($2::text[])`;

/** The condition is that of the index for the policy. */
const UPDATE = `
  UPDATE ${JOBS} AS job SET
    priority = greatest(job.priority, wanted.priority),
    data = CASE WHEN job.state < 'active' THEN job.data || wanted.data ELSE job.data END
  FROM json_to_recordset($2::json) AS wanted ("singletonKey" text, priority integer, data jsonb)
  WHERE job.name = $1 AND coalesce(job.singleton_key, '') = wanted."singletonKey"
    AND job.state <= 'active' AND job.policy = 'exclusive'
  RETURNING job.id::text AS id`;

const TAKE = `
  WITH next AS (
    SELECT id, group_id FROM ${JOBS}
    WHERE name = $1 AND state < 'active' AND NOT blocked
      AND start_after <= now() - CASE WHEN strpos(group_id, $2) > 0 THEN interval '1 minute' ELSE interval '0' END
      AND coalesce(singleton_key, '') <> ALL ($3::text[])
      AND NOT EXISTS (SELECT FROM ${JOBS} WHERE name = '${PAUSED}' AND state < 'active')
    ORDER BY priority DESC, created_on LIMIT 1
    FOR UPDATE SKIP LOCKED
  )
  UPDATE ${JOBS} AS job SET
    state = 'active', started_on = clock_timestamp(), heartbeat_on = now(),
    retry_count = retry_count + CASE WHEN started_on IS NULL THEN 0 ELSE 1 END,
    group_id = CASE WHEN strpos(coalesce(job.group_id, ''), $2) > 0 THEN job.group_id ELSE concat_ws(' ', job.group_id, $2::text) END
  FROM next WHERE job.name = $1 AND job.id = next.id
  RETURNING job.id::text AS id, job.data, job.singleton_key AS key, job.started_on::text AS "startedOn", next.group_id AS "takenBy",
    job.output->>'log' AS log`;

const TOUCH = `
  WITH held AS (UPDATE ${JOBS} SET heartbeat_on = now() WHERE ${IS_TAKEN} RETURNING id)
  SELECT CASE WHEN EXISTS (SELECT FROM held) THEN 'held' WHEN state = 'cancelled' THEN 'cancelled' ELSE 'lost' END AS held
  FROM ${JOBS} WHERE name = $1 AND id = $2`;

const HAND_BACK = `
  UPDATE ${JOBS} SET
    state = CASE WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${QUEUE_SCHEMA}.job_state,
    started_on = CASE WHEN retry_count = 0 THEN NULL ELSE started_on END,
    retry_count = greatest(retry_count - 1, 0), heartbeat_on = NULL, group_id = $4
  WHERE ${IS_TAKEN}`;
