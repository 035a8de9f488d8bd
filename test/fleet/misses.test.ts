// @module-tag slow
// Misses on their way from builds through the inbox of a base to the queue.
import { readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { deviceKey } from '../../src/backend/device.ts';
import { sendToInbox } from '../../src/base/inbox.ts';
import { publish } from '../../src/base/publish.ts';
import { submitMisses } from '../../src/fleet/misses.ts';
import { queueStates } from '../../src/fleet/overview.ts';
import { openQueue } from '../../src/fleet/queue.ts';
import { databaseWith } from '../base/support.ts';
import { subjectOf } from '../store/samples.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { databaseOf, fleetDatabase, jobOf, PLACE, pretendedDevice } from './support.ts';

/** A miss of a matmul of m rows on a machine. */
const missOf = (m: number, machine: string) => {
  const device = pretendedDevice(machine);
  return { ...subjectOf(m), device: deviceKey(device), deviceForm: device };
};

/** Sends the misses of a machine. @returns a function that sends news again */
function builder(base: string, machine: string, sizes: readonly number[]) {
  const folder = temporaryDirectory();
  const database = databaseWith((store) => {
    for (const m of sizes) store.noteMiss(missOf(m, machine));
  });
  return () => sendToInbox({ kind: 'folder', path: base }, { database }, folder, {});
}

const missesIn = (base: string) =>
  readdirSync(join(base, 'inbox')).filter((name) => name.endsWith('.misses.gz'));

test.skipIf(isWithout(whyNoPostgres))(
  'each class gets one job for a workload, most missed first',
  async () => {
    const base = temporaryDirectory();
    const [first, second] = [builder(base, 'A', [1, 2, 2]), builder(base, 'B', [2, 3])];
    await first();
    await second();
    const sent = missesIn(base);
    expect(sent).toHaveLength(2);
    await first();
    expect(missesIn(base)).toEqual(sent);
    const good = { type: 'miss', count: 1, ...jobOf(4).job };
    const hostile = [
      { ...good, form: { kind: 'none' } },
      { ...good, count: 0 },
      { ...good, device: 7 },
      7,
      null,
    ];
    writeFileSync(
      join(base, 'inbox', 'hostile.misses.gz'),
      gzipSync(`${hostile.map((line) => JSON.stringify(line)).join('\n')}\nno JSON\n`),
    );
    writeFileSync(join(base, 'inbox', 'bomb.misses.gz'), gzipSync(Buffer.alloc(2 ** 25)));
    writeFileSync(join(base, 'inbox', 'text.misses.gz'), 'no gzip');
    symlinkSync('/etc/passwd', join(base, 'inbox', 'link.misses.gz'));

    const { url } = await fleetDatabase();
    const database = databaseOf(url);
    expect(await submitMisses(base, database)).toBe(3);
    expect(missesIn(base)).toEqual([]);
    expect(await queueStates(database)).toMatchObject([{ ...PLACE, waiting: 3 }]);
    const queue = await openQueue(database, PLACE);
    expect((await queue.take())!.data).toEqual(jobOf(2).job);
    await queue.close();
    expect(await submitMisses(base, database)).toBe(0);
  },
);

test('a publication leaves misses for a publisher with a fleet, for thirty days', async () => {
  const base = temporaryDirectory();
  await builder(base, 'A', [1])();
  await builder(base, 'B', [1])();
  const [old, recent] = missesIn(base);
  utimesSync(join(base, 'inbox', old!), new Date(), Date.now() / 1000 - 31 * 24 * 3600);
  await publish({ folder: base, cacheDirectory: temporaryDirectory() });
  expect(readdirSync(join(base, 'inbox'))).toEqual([recent]);
});
