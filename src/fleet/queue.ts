// The jobs of one place: target, compiler and class of devices. What is lost of it is planned again from what builds want.
import type { PgBoss } from 'pg-boss';
import { ownOrigin } from '../store/author.ts';
import { QUEUE_SCHEMA } from '../team/roles.ts';
import { HEARTBEAT_SECONDS, openBoss, RETRY_SECONDS } from './boss.ts';
import type { QueueDatabase } from './database.ts';
import { jobKey, queueName, type Place } from './job.ts';
import type { PlannedJob } from './plan.ts';

/** Where jobs go that have failed too often. */
export const DEAD = 'dead';

/** What a job may take in all; a worker ends long before. Each of its trials was told by then. */
const LONGEST_JOB_SECONDS = 6 * 3600;

/** How often one that has failed is tried again. */
const MOST_RETRIES = 4;

/** Jobs that are done stay for a day, for who asks how much is done. */
const DONE_SECONDS = 24 * 3600;

/** Numbers that a database keeps as priorities. */
const HIGHEST_PRIORITY = 2 ** 31 - 1;

const JOBS = `${QUEUE_SCHEMA}.job`;

/** A job that was taken: nobody else has it while it is touched. */
export interface TakenJob {
  readonly id: string;
  /** Anybody may have written it. */
  readonly data: unknown;
  /** Of its workload: see `jobKey`. */
  readonly key: string | null;
  /** When it was taken, to the microsecond: whoever takes it after us has the same id. */
  readonly startedOn: string;
  /** The machines that had taken it before, as the database keeps them. */
  readonly takenBy: string | null;
}

export interface Queue {
  /** Adds what is not there and not dead on this machine, with as much priority as there are builds; how many were added. */
  plan(planned: readonly PlannedJob[]): Promise<number>;
  /**
   * The job that most builds wait for, of those that are not dead on this machine; null where there is none that may be taken now.
   * @param left keys of jobs that are left to others
   */
  take(left?: readonly string[]): Promise<TakenJob | null>;
  /** Says that it is still worked on. False when somebody else may have it by now. */
  touch(job: TakenJob): Promise<boolean>;
  /** It is done, whoever has it by now, and dead for nobody. */
  complete(job: TakenJob, outcome: Readonly<Record<string, unknown>>): Promise<void>;
  /** It is tried again later, or dead for the machines that have taken it. */
  fail(job: TakenJob, reason: string): Promise<void>;
  /** As if nobody had taken it. */
  handBack(job: TakenJob): Promise<void>;
  /** Frees what silent workers hold, and removes what is old. */
  supervise(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes the queue of a place where there is none. Rejects with what the driver rejects with, and with UserError.
 * @param machine a name of this machine: what fails here too often is dead for this machine, and not for others
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
    async take(left = []) {
      const [job] = await database.rows(TAKE, [name, own, left]);
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
    async supervise() {
      await boss.supervise(name);
      await database.rows(`DELETE FROM ${JOBS} WHERE name = '${DEAD}' AND keep_until < now()`);
    },
    async close() {
      await boss.stop({ graceful: false });
    },
  };
}

// The library takes any job, and forgets who has taken it. The statements below keep the machines of a job, as JSON texts one after
// the other, in a column that the library hands on wherever the job goes, and that is otherwise for groups of jobs, which we have none of.

const IS_TAKEN = `name = $1 AND id = $2 AND state = 'active' AND started_on = $3::timestamptz`;

const IS_DEAD = `name = '${DEAD}' AND state < 'active' AND source_name = $1`;

/** Of what earlier versions have left dead nobody knows on which machine that was: it is dead on all. */
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

const HAND_BACK = `
  UPDATE ${JOBS} SET
    state = CASE WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${QUEUE_SCHEMA}.job_state,
    started_on = CASE WHEN retry_count = 0 THEN NULL ELSE started_on END,
    retry_count = greatest(retry_count - 1, 0), heartbeat_on = NULL, group_id = $4
  WHERE ${IS_TAKEN}`;

/** The machines in the text of a job. */
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
  const priorityOf = ({ builds }: PlannedJob) => Math.min(builds, HIGHEST_PRIORITY);
  const waiting = await boss.findJobs(name, { queued: true });
  const known = new Map(waiting.map((job) => [job.singletonKey, job.priority]));
  const fresh = planned.flatMap((one) => {
    const singletonKey = jobKey(one.job.workload);
    if (known.has(singletonKey) || dead.has(singletonKey)) return [];
    return [{ data: one.job, priority: priorityOf(one), singletonKey }];
  });
  // One that is being worked on, or that somebody else has just planned, is not added.
  const added = fresh.length === 0 ? [] : ((await boss.insert(name, fresh, { returnId: true })) ?? []);
  for (const one of planned) {
    const singletonKey = jobKey(one.job.workload);
    const priority = known.get(singletonKey);
    if (priority !== undefined && priority !== priorityOf(one))
      await boss.update(name, undefined, { singletonKey, priority: priorityOf(one) });
  }
  return added.length;
}
