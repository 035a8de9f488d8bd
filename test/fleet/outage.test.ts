// @module-tag slow
// Workers lose nothing when their server goes away and comes back.
// In full after a change of src/fleet.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { queueStates } from '../../src/fleet/overview.ts';
import { isWithout } from '../support/needs.ts';
import { startServer, whyNoPostgres } from '../support/postgres.ts';
import { databaseOf } from './support.ts';
import { endsOf, fleetOf, overlaps } from './workers.ts';

describe.skipIf(isWithout(whyNoPostgres))('a fleet', () => {
  test('loses nothing when its server restarts', { tags: 'full', timeout: 300_000 }, async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const jobs = 8;
    const { url, notes, start, until, hold } = await fleetOf(server, jobs);
    const release = hold('A1');
    const workers = ['A1', 'B1'].map((name) => start(name));
    await until((all) => all.some(({ worker, deed }) => worker === 'A1' && deed === 'begins'));
    await until((all) => endsOf(all).length >= 3);
    await server.stop();
    // Workers complete their jobs after the server is back.
    release();
    await until((all) => endsOf(all).some(({ worker }) => worker === 'A1'));
    await until((all) => all.some(({ deed, what }) => deed === 'says' && /cannot be reached/.test(what)));
    await server.start();
    await until((all) => new Set(endsOf(all).map(({ what }) => what)).size === jobs);
    const own = databaseOf(url);
    while (((await queueStates(own).catch(() => []))[0]?.done ?? 0) < jobs) await sleep(100);
    expect(overlaps(notes())).toEqual([]);
    // A signal to drain ends a worker even while the server is away.
    await server.stop();
    for (const { child } of workers) child.kill('SIGTERM');
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
  });
});
