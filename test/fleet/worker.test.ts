// @module-tag slow
// Workers that are killed or drained: no result is lost, and two workers never measure on one machine at a time.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { HEARTBEAT_SECONDS, QUEUE_SCHEMA } from '../../src/fleet/boss.ts';
import { cancel, jobStates, queueStates } from '../../src/fleet/overview.ts';
import { isFull, isWithout } from '../support/needs.ts';
import { testServer, whyNoPostgres, type TestDatabase } from '../support/postgres.ts';
import { databaseOf, PLACE } from './support.ts';
import { endsOf, fleetOf, overlaps } from './workers.ts';

/** Sets the last heartbeat of a job back by the time after which its worker counts as dead. Returns that time, in seconds. */
const silence = (database: TestDatabase, workload: string) =>
  database.query(
    `UPDATE ${QUEUE_SCHEMA}.job SET heartbeat_on = heartbeat_on - heartbeat_seconds * interval '1s'
     WHERE state = 'active' AND data->>'workload' = $1 RETURNING heartbeat_seconds AS seconds`,
    [workload],
  );

/** Lets failed jobs be tried again at once. */
const endPauses = (database: TestDatabase) =>
  database.query(
    `UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() - interval '1 minute' WHERE state = 'retry'`,
  );

/** Three workers on one machine, and one on each of two others. */
const NAMES = ['A1', 'A2', 'A3', 'B1', 'C1'];

const JOBS = isFull ? 20 : 12;

describe.skipIf(isWithout(whyNoPostgres))('a fleet', () => {
  test(
    `does ${JOBS} jobs, whoever of it is killed or told to end, and no two at a time on one machine`,
    { timeout: 300_000 },
    async () => {
      const { database, url, notes, start, until, hold } = await fleetOf(await testServer(), JOBS);
      const release = new Map(NAMES.map((name) => [name, hold(name)]));
      const workers = new Map(NAMES.map((name) => [name, start(name)]));
      const begun = (name = /./) =>
        notes().filter(({ worker, deed }) => deed === 'begins' && name.test(worker));
      // One worker on each machine measures. The two others of machine A wait.
      await until(() => begun().length === 3);
      expect((await jobStates(databaseOf(url))).flatMap(({ machines }) => machines).sort()).toEqual([
        'A',
        'B',
        'C',
      ]);
      expect(
        begun()
          .map(({ worker }) => worker[0])
          .sort(),
      ).toEqual(['A', 'B', 'C']);

      const { worker: name, what: held } = begun(/A/)[0]!;
      const killed = workers.get(name)!;
      const killedAt = Date.now();
      killed.child.kill('SIGKILL');
      expect(await killed.ended).toBe('SIGKILL');
      // Its job stays its own until its last heartbeat is old. The test sets that heartbeat back instead of waiting.
      expect(begun().filter(({ what }) => what === held)).toHaveLength(1);
      expect(await silence(database, held)).toEqual([{ seconds: HEARTBEAT_SECONDS }]);
      release.get('B1')!();
      await until((all) => endsOf(all).some(({ worker }) => worker === 'B1'));
      const stopped = workers.get('B1')!;
      stopped.child.kill('SIGTERM');
      expect(await stopped.ended).toBe(0);
      for (const other of ['A1', 'A2', 'A3']) release.get(other)!();
      // C1 leaves jobs to the workers that waited.
      await until(() => begun(/A/).length > 1);
      release.get('C1')!();
      while (!endsOf(notes()).some(({ what }) => what === held)) {
        await endPauses(database);
        await sleep(50);
      }
      await until((all) => new Set(endsOf(all).map(({ what }) => what)).size === JOBS);
      const own = databaseOf(url);
      const rest = async () => {
        const [state] = await queueStates(own);
        return state!.waiting + state!.active;
      };
      while ((await rest()) > 0) await sleep(100);

      expect(overlaps(notes(), { [name]: killedAt })).toEqual([]);
      expect(await queueStates(own)).toMatchObject([{ ...PLACE, waiting: 0, active: 0, done: JOBS }]);
      const others = [...workers.values()].filter((one) => one !== killed && one !== stopped);
      for (const { child } of others) child.kill('SIGTERM');
      expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    },
  );

  test('stops a cancelled job, and takes the next one', async () => {
    const { url, start, until, hold, notes } = await fleetOf(await testServer(), 2);
    const release = hold('A1');
    const worker = start('A1', { untilIdle: true });
    await until((all) => all.some(({ deed }) => deed === 'begins'));
    const own = databaseOf(url);
    const [job] = await jobStates(own);
    expect(await cancel(own, job!.id)).toEqual([job!.id]);
    await until((all) => all.some(({ what }) => what === `stopped ${job!.name}: it is cancelled`));
    release();
    expect(await worker.ended).toBe(0);
    expect(endsOf(notes()).at(-1)!.what).not.toBe(job!.name);
    expect(await jobStates(own, job!.id)).toMatchObject([{ state: 'cancelled' }]);
    expect(await queueStates(own)).toMatchObject([{ waiting: 0, active: 0, done: 1 }]);
  });

  test('hands a job of a later version back and does the jobs behind it', { tags: 'full' }, async () => {
    const { database, start, until, notes } = await fleetOf(await testServer(), 2);
    const first = start('A1', { untilIdle: true });
    expect(await first.ended).toBe(0);
    const jobs = `${QUEUE_SCHEMA}.job`;
    await database.query(
      `UPDATE ${jobs} SET state = 'created', started_on = NULL, completed_on = NULL, output = NULL, group_id = NULL,
         priority = CASE WHEN data->>'workload' LIKE '% m=1 %' THEN 9 ELSE 1 END,
         data = CASE WHEN data->>'workload' LIKE '% m=1 %' THEN data || '{"version": 2}' ELSE data END`,
    );
    const second = start('B1');
    await until((all) => endsOf(all).some(({ worker }) => worker === 'B1'));
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    const left = notes().filter(
      ({ worker, what }) => worker === 'B1' && what.includes('needs a later version'),
    );
    expect(left).toHaveLength(1);
    expect(
      await database.query(`SELECT state, retry_count, group_id FROM ${jobs} WHERE data->>'version' = '2'`),
    ).toEqual([{ state: 'created', retry_count: 0, group_id: null }]);
  });

  test(
    'hands a job back when the drain times out, and ends at once at the second signal',
    { tags: 'full' },
    async () => {
      const { url, start, until, hold, notes } = await fleetOf(await testServer(), 2);
      for (const name of ['A1', 'B1']) hold(name);
      const first = start('A1');
      const second = start('B1', { drain: 0.1 });
      await until((all) => all.filter(({ deed }) => deed === 'begins').length === 2);
      first.child.kill('SIGTERM');
      await until((all) => all.some(({ deed, what }) => deed === 'says' && what.startsWith('SIGTERM')));
      first.child.kill('SIGTERM');
      expect(await first.ended).toBe(143);
      // The hold file stays, so the worker hands the job back after the time limit.
      second.child.kill('SIGTERM');
      expect(await second.ended).toBe(0);
      expect(notes().some(({ worker, what }) => worker === 'B1' && what.startsWith('returned'))).toBe(true);
      const [state] = await queueStates(databaseOf(url));
      expect(state).toMatchObject({ done: 0 });
      // One was handed back. That of the killed worker is still active.
      expect(state).toMatchObject({ waiting: 1, active: 1 });
      const third = start('C1', { untilIdle: true });
      expect(await third.ended).toBe(0);
      expect((await queueStates(databaseOf(url)))[0]!.done).toBeGreaterThan(0);
    },
  );
});
