// Submits the misses of builds.
import { missesIn } from '../base/inbox.ts';
import { isObject } from '../system/data.ts';
import type { ServerDatabase } from './database.ts';
import { jobKey, queueName, readJob, type Place } from './job.ts';
import { openQueue, type PlannedJob } from './queue.ts';

/** Submits one job for each class and workload in an inbox, and removes the misses. Returns the number of jobs. */
export async function submitMisses(
  folder: string,
  database: ServerDatabase,
  author?: string,
): Promise<number> {
  const { values, remove } = missesIn(folder);
  const jobs = new Map<string, PlannedJob>();
  for (const value of values) {
    const one = jobOf(value);
    if (one === null) continue;
    const name = `${queueName(one.job)} ${jobKey(one.job)}`;
    const before = jobs.get(name)?.priority ?? 0;
    jobs.set(name, { ...one, priority: before + one.priority });
  }
  for (const own of Map.groupBy(jobs.values(), ({ job }) => queueName(job)).values()) {
    const queue = await openQueue(database, own[0]!.job);
    await queue.submit(own, author).finally(() => queue.close());
  }
  remove();
  return jobs.size;
}

/** The job of an untrusted miss; null for an invalid one. */
function jobOf(miss: unknown): PlannedJob | null {
  if (!isObject(miss) || miss['type'] !== 'miss') return null;
  const { version, target, compiler, device, workload, form, count } = miss;
  const job = readJob({ version, target, compiler, device, workload, form }, {
    target,
    compiler,
    device,
  } as Place);
  return typeof job === 'string' || !Number.isSafeInteger(count) || (count as number) < 1
    ? null
    : { job, priority: count as number };
}
