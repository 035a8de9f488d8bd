// Simulated machines, and jobs for them.
import { onTestFinished } from 'vitest';
import type { Device } from '../../src/backend/device.ts';
import { serverDatabase, type ServerDatabase } from '../../src/fleet/database.ts';
import { classOr } from '../../src/backend/device.ts';
import type { Place } from '../../src/fleet/job.ts';
import { installQueue, type PlannedJob } from '../../src/fleet/queue.ts';
import type { WorkerParts } from '../../src/fleet/worker.ts';
import { SUBJECT, subjectOf } from '../store/samples.ts';
import { testServer, type TestDatabase, type TestServer } from '../support/postgres.ts';

/** A device of one class, with a name of its own. */
export const pretendedDevice = (name: string): Device => ({
  model: `Pretended ${name}`,
  driver: 'local-task',
  threads: 8,
  cachesKiB: [32],
  processor: {
    ...{ architecture: 'x64', vendor: 'Maker', family: 6, model: 7, threadsPerCore: 1 },
    caches: [{ level: 1, sizeKiB: 32, threads: 1 }],
  },
});

export const PLACE: Place = {
  target: SUBJECT.target,
  compiler: SUBJECT.compiler,
  device: classOr('', pretendedDevice('any')),
};

/** Parts of a worker without a base, on a machine of its own. */
export const ALONE: Pick<WorkerParts, 'place' | 'exchange' | 'whyUseless' | 'isBusy'> = {
  place: PLACE,
  exchange: () => Promise.resolve(null),
  whyUseless: () => Promise.resolve(null),
  isBusy: () => Promise.resolve(false),
};

/** A job for a matmul of m x 512 x 512. */
export function jobOf(m: number, priority = 1): PlannedJob {
  const { workload, workloadForm: form } = subjectOf(m);
  return { job: { version: 1, ...PLACE, workload, form }, priority };
}

/** A database with the queue: a copy of one template. */
export async function fleetDatabase(server?: TestServer): Promise<TestDatabase> {
  const own = server ?? (await testServer());
  return own.copyOf('fleet', async () => {
    const database = await own.database();
    using queue = serverDatabase(database.url, {});
    await installQueue(queue);
    return database;
  });
}

/** @param application name of the connection */
export function databaseOf(url: string, application?: string): ServerDatabase {
  const database = serverDatabase(url, {}, application);
  onTestFinished(() => {
    database[Symbol.dispose]();
  });
  return database;
}
