// The jobs of one place: target, compiler and class of devices. What is lost of it is planned again from what builds want.
import type { PgBoss } from 'pg-boss';
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

/** A job that was taken: nobody else has it while it is touched. */
export interface TakenJob {
  readonly id: string;
  /** Anybody may have written it. */
  readonly data: unknown;
  readonly priority: number;
  readonly key: string | null;
  /** When it was taken: whoever takes it after us has the same id. */
  readonly startedOn: Date;
}

export interface Queue {
  /** Adds what is not there and not dead, with as much priority as there are builds; how many were added. */
  plan(planned: readonly PlannedJob[]): Promise<number>;
  /** The job that most builds wait for; null where there is none that may be taken now. */
  take(): Promise<TakenJob | null>;
  /** Says that it is still worked on. False when somebody else may have it by now. */
  touch(job: TakenJob): Promise<boolean>;
  /** It is done, whoever has it by now. */
  complete(job: TakenJob, outcome: Readonly<Record<string, unknown>>): Promise<void>;
  /** It is tried again later, or dead. */
  fail(job: TakenJob, reason: string): Promise<void>;
  /** As if nobody had taken it. */
  handBack(job: TakenJob): Promise<void>;
  /** Frees what silent workers hold, and removes what is old. */
  supervise(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the queue of a place where there is none. Rejects with what the driver rejects with, and with UserError. */
export async function openQueue(database: QueueDatabase, place: Place): Promise<Queue> {
  const boss = await openBoss(database);
  const name = queueName(place);
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
  const isOurs = async ({ id, startedOn }: TakenJob) => {
    const [job] = await boss.findJobs(name, { id });
    return job?.state === 'active' && job.startedOn.getTime() === startedOn.getTime();
  };
  return {
    plan: (planned) => plan(boss, name, planned),
    async take() {
      const [job] = await boss.fetch(name, { includeMetadata: true });
      return job === undefined
        ? null
        : {
            id: job.id,
            data: job.data,
            priority: job.priority,
            key: job.singletonKey,
            startedOn: job.startedOn,
          };
    },
    async touch(job) {
      await boss.touch(name, job.id);
      return isOurs(job);
    },
    async complete({ id }, outcome) {
      await boss.complete(name, id, outcome, { includeQueued: true });
    },
    async fail(job, reason) {
      if (await isOurs(job)) await boss.fail(name, job.id, { reason });
    },
    async handBack(job) {
      if (!(await isOurs(job))) return;
      // Taken again, it would count as a retry. Between the two it is missing, and what is missing is planned again.
      await boss.deleteJob(name, job.id);
      if (job.key !== null)
        await boss.send(name, job.data as object, { priority: job.priority, singletonKey: job.key });
    },
    async supervise() {
      await boss.supervise(name);
    },
    async close() {
      await boss.stop({ graceful: false });
    },
  };
}

async function plan(boss: PgBoss, name: string, planned: readonly PlannedJob[]): Promise<number> {
  const priorityOf = ({ builds }: PlannedJob) => Math.min(builds, HIGHEST_PRIORITY);
  const waiting = await boss.findJobs(name, { queued: true });
  const dead = await boss.findJobs(DEAD, { queued: true });
  const isDead = new Set(dead.flatMap((job) => (job.sourceName === name ? [job.singletonKey] : [])));
  const known = new Map(waiting.map((job) => [job.singletonKey, job.priority]));
  const fresh = planned.flatMap((one) => {
    const singletonKey = jobKey(one.job.workload);
    if (known.has(singletonKey) || isDead.has(singletonKey)) return [];
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
