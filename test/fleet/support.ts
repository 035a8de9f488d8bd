// Simulated machines, and demands of builds on them.
import { onTestFinished } from 'vitest';
import { deviceKey, type Device } from '../../src/backend/device.ts';
import { installQueue } from '../../src/fleet/install.ts';
import { deviceOf, type Place } from '../../src/fleet/job.ts';
import { queueDatabase, type QueueDatabase } from '../../src/fleet/database.ts';
import type { Subject } from '../../src/store/store.ts';
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import type { Team } from '../../src/team/team.ts';
import { SUBJECT, subjectOf } from '../store/samples.ts';
import { testServer, type TestDatabase, type TestServer } from '../support/postgres.ts';
import { given, LONG, partsOf, teamDatabase } from '../team/support.ts';

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

/** The subject of a miss on such a machine: a matmul of m x 512 x 512. */
export function wantedOn(name: string, m: number): Subject {
  const device = pretendedDevice(name);
  return subjectOf(m, { device: deviceKey(device), deviceForm: device });
}

export const PLACE: Place = {
  target: SUBJECT.target,
  compiler: SUBJECT.compiler,
  device: deviceOf('', pretendedDevice('any')),
};

export const keysOf = ({ workload, target, device, compiler }: Subject) => ({
  workload,
  target,
  device,
  compiler,
});

/** One build that misses all these subjects. */
export const want = (team: Team, subjects: readonly Subject[]) =>
  given(
    team.want(
      subjects.flatMap((subject) => partsOf(subject)),
      subjects.map(keysOf),
      LONG,
    ),
  );

/** A database with roles, tables and the queue, from an administrator: a copy of one template. */
export async function fleetDatabase(server?: TestServer): Promise<TestDatabase> {
  const own = server ?? (await testServer());
  return own.copyOf('fleet', async () => {
    const database = await teamDatabase(own);
    const address = readAddress(database.url);
    const connection = openConnection(address, '');
    await installQueue(queueDatabase(address, '', connection));
    connection.close();
    return database;
  });
}

export function databaseOf(url: string): QueueDatabase {
  const address = readAddress(url);
  const database = queueDatabase(address, address.password ?? '');
  onTestFinished(() => {
    database.close();
  });
  return database;
}
