// @module-tag slow
// Demands, jobs and rights on a real server.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deviceKey } from '../../src/backend/device.ts';
import { allDemands } from '../../src/fleet/plan.ts';
import { jobKey, queueName } from '../../src/fleet/job.ts';
import { queueDatabase } from '../../src/fleet/database.ts';
import { installQueue } from '../../src/fleet/install.ts';
import { machineLock } from '../../src/fleet/machine.ts';
import { deadJobs, queueStates, retryDead } from '../../src/fleet/overview.ts';
import { planJobs } from '../../src/fleet/plan.ts';
import { DEAD, openQueue } from '../../src/fleet/queue.ts';
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import { migrateTeam } from '../../src/team/migrate.ts';
import { QUEUE_SCHEMA, ROLES_SQL } from '../../src/team/roles.ts';
import { isWithout } from '../support/needs.ts';
import { testDatabase, whyNoPostgres } from '../support/postgres.ts';
import { claimOf, client, clientAs, given, LONG, partsOf, refusal } from '../team/support.ts';
import { databaseOf, fleetDatabase, keysOf, PLACE, pretendedDevice, want, wantedOn } from './support.ts';

/** A worker's queue, and demands of the given numbers of builds. */
async function queueWith(builds: readonly number[]) {
  const database = await fleetDatabase();
  const url = await database.login('worker', { in: 'iree_tuned_worker' });
  const own = databaseOf(url);
  const queue = await openQueue(own, PLACE, 'broken');
  onTestFinished(() => queue.close());
  const team = client(url);
  for (const [m, count] of builds.entries())
    for (let i = 0; i < count; i++) await want(team, [wantedOn('A', m + 1)]);
  const planned = async () => {
    const { target, compiler } = PLACE;
    return planJobs(await given(team.demands({ target, compiler }, LONG)), PLACE).jobs;
  };
  const plan = async () => queue.plan(await planned());
  return { database, url, own, queue, team, plan, planned };
}

const sizeOf = (data: unknown) => /m=(\d+)/.exec((data as { workload: string }).workload)![1];

describe.skipIf(isWithout(whyNoPostgres))('demands', () => {
  test('200 concurrent builds that miss the same 40 workloads make 40 demands of 200 builds', async () => {
    const { database } = await queueWith([]);
    const url = await database.login('ci', { in: 'iree_tuned_writer' });
    const subjects = Array.from({ length: 40 }, (_, m) => wantedOn('A', m + 1));
    const builds = Array.from({ length: 200 }, (_, i) => i);
    const ask = async () => {
      const team = client(url);
      while (builds.pop() !== undefined) await want(team, subjects);
    };
    await Promise.all(Array.from({ length: 50 }, ask));
    expect(
      await database.query(
        'SELECT builds::integer, count(*)::integer FROM iree_tuned.demand GROUP BY builds',
      ),
    ).toEqual([{ builds: 200, count: 40 }]);
    // Builds never write to the queue.
    expect(await database.query(`SELECT count(*)::integer AS jobs FROM ${QUEUE_SCHEMA}.job`)).toEqual([
      { jobs: 0 },
    ]);
  });

  test('end with a later record, and not with an earlier one', async () => {
    const { team } = await queueWith([]);
    const subject = wantedOn('A', 1);
    const place = { target: PLACE.target, compiler: PLACE.compiler };
    const wanted = async () => (await given(team.demands(place, LONG))).demands.map(({ builds }) => builds);
    await given(team.push([...partsOf(subject), claimOf({ subject })], LONG));
    await want(team, [subject]);
    expect(await wanted()).toEqual([1]);
    await given(team.push([claimOf({ subject, evidence: { repetitions: 61 } })], LONG));
    expect(await wanted()).toEqual([]);
  });

  test('come page by page, so none hides another', async () => {
    const { team } = await queueWith([]);
    // More than a page of demands of another class has higher priority.
    const small = { ...pretendedDevice('small'), threads: 2 };
    const foreign = Array.from({ length: 1200 }, (_, m) => ({
      ...wantedOn('A', m + 1),
      ...{ device: deviceKey(small), deviceForm: small },
    }));
    for (let round = 0; round < 2; round++)
      for (const some of [foreign.slice(0, 600), foreign.slice(600)]) await want(team, some);
    await want(team, [wantedOn('A', 1)]);
    const place = { target: PLACE.target, compiler: PLACE.compiler };
    const first = await given(team.demands(place, LONG));
    expect([first.demands.length, first.more]).toEqual([1000, true]);
    expect(planJobs(first, PLACE).jobs).toEqual([]);
    const second = await given(team.demands({ ...place, skip: 1000 }, LONG));
    expect([second.demands.length, second.more]).toEqual([201, false]);
    expect(planJobs(second, PLACE).jobs).toHaveLength(1);
    expect(await given(allDemands(team, place, LONG))).toHaveLength(1201);
  });

  test('keep the reason of their refusal', async () => {
    const { team } = await queueWith([2]);
    const subject = wantedOn('A', 1);
    await given(team.settle([keysOf(subject)], 'nobody can', LONG));
    await want(team, [subject]);
    expect(await given(team.fleet(LONG))).toMatchObject({
      wanted: 0,
      refused: [{ workload: subject.workload, device: subject.device, builds: 3, reason: 'nobody can' }],
    });
    expect(await given(team.settle([keysOf(subject)], null, LONG))).toMatchObject({ settled: 1 });
    expect(await given(team.fleet(LONG))).toMatchObject({ wanted: 0, refused: [] });
  });
});

describe.skipIf(isWithout(whyNoPostgres))('the queue', () => {
  test('has one job for each workload, the most wanted first', async () => {
    const { queue, plan, planned, team } = await queueWith([1, 3, 2]);
    const jobs = await planned();
    const added = await Promise.all([queue.plan(jobs), queue.plan(jobs), queue.plan(jobs)]);
    expect(added.toSorted()).toEqual([0, 0, 3]);
    // One more build raises the priority of a waiting job.
    for (let i = 0; i < 5; i++) await want(team, [wantedOn('B', 1)]);
    expect(await plan()).toBe(0);
    const taken = [await queue.take(), await queue.take(), await queue.take()];
    expect(taken.map((job) => sizeOf(job!.data))).toEqual(['1', '2', '3']);
    expect(await queue.take()).toBeNull();
    // An active job is not planned again.
    expect(await plan()).toBe(0);
  });

  test('two concurrent takes get two jobs', async () => {
    const { queue, plan, url } = await queueWith([1, 1, 1, 1]);
    await plan();
    const other = await openQueue(databaseOf(url), PLACE);
    onTestFinished(() => other.close());
    const taken = await Promise.all([queue.take(), other.take(), queue.take(), other.take()]);
    expect(new Set(taken.map((job) => job!.id)).size).toBe(4);
  });

  test('a job that is handed back can be taken at once, and counts no failure', async () => {
    const { queue, plan, database } = await queueWith([7]);
    await plan();
    for (let i = 0; i < 8; i++) {
      const job = await queue.take();
      expect(sizeOf(job!.data)).toBe('1');
      await queue.handBack(job!);
    }
    const rows = () =>
      database.query(
        `SELECT state, retry_count, priority, group_id FROM ${QUEUE_SCHEMA}.job WHERE name = '${queueName(PLACE)}'`,
      );
    expect(await rows()).toEqual([{ state: 'created', retry_count: 0, priority: 7, group_id: null }]);
    await queue.fail((await queue.take())!, 'no');
    await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now()`);
    const failed = await rows();
    await queue.handBack((await queue.take())!);
    expect(await rows()).toEqual(failed);
  });

  test('a late worker cannot fail or hand back a job that another worker took, but can complete it', async () => {
    const { queue, plan, database } = await queueWith([1]);
    await plan();
    const late = await queue.take();
    await database.query(
      `UPDATE ${QUEUE_SCHEMA}.job SET state = 'retry', start_after = now() WHERE state = 'active'`,
    );
    expect(await queue.touch(late!)).toBe(false);
    const now = await queue.take();
    expect(now).toMatchObject({ id: late!.id });
    expect(await queue.touch(late!)).toBe(false);
    await queue.fail(late!, 'no');
    await queue.handBack(late!);
    expect(await queue.touch(now!)).toBe(true);
    await queue.complete(late!, {});
    expect(await queue.touch(now!)).toBe(false);
    expect(await queue.take()).toBeNull();
  });

  test('a job that fails too often is dead, is not planned again, and can be retried by hand', async () => {
    const { queue, plan, database, own } = await queueWith([2, 1]);
    await plan();
    for (let attempt = 0; attempt < 10; attempt++) {
      // End the pause before the next attempt.
      await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
      const job = await queue.take();
      if (job === null || sizeOf(job.data) !== '1') break;
      await queue.fail(job, 'it has no default');
    }
    const [dead] = await deadJobs(own);
    expect(dead).toMatchObject({ attempts: 5, reason: 'it has no default', ...PLACE });
    expect(await deadJobs(own)).toHaveLength(1);
    expect(await plan()).toBe(0);
    expect(await queueStates(own)).toMatchObject([{ ...PLACE, waiting: 0, active: 1 }]);
    await expect(retryDead(own, 'ffff-none')).rejects.toThrow('no dead job has an id that begins with');
    expect(await retryDead(own, dead!.id.slice(0, 8))).toEqual([dead!.id]);
    expect(await deadJobs(own)).toEqual([]);
    expect(await queue.take()).toMatchObject({ key: jobKey(wantedOn('A', 1).workload) });
  });

  test('a job that fails or kills one machine is dead for that machine only', async () => {
    const { queue: broken, team, plan, planned, database, own, url } = await queueWith([1, 1]);
    const sound = await openQueue(databaseOf(url), PLACE, 'sound');
    onTestFinished(() => sound.close());
    await plan();
    const endPauses = () =>
      database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
    for (let job; (job = await broken.take()) !== null; await endPauses())
      if (sizeOf(job.data) === '1') await broken.fail(job, 'no such file: libm.so');
      else {
        // A killed worker.
        await database.query(
          `UPDATE ${QUEUE_SCHEMA}.job SET heartbeat_on = now() - interval '1 minute' WHERE state = 'active'`,
        );
        await database.query(`UPDATE ${QUEUE_SCHEMA}.queue SET monitor_claim_on = NULL, monitor_on = NULL`);
        await broken.supervise();
      }
    expect(await deadJobs(own)).toMatchObject([
      { attempts: 5, machines: ['broken'] },
      { attempts: 5, machines: ['broken'] },
    ]);
    expect(await broken.plan(await planned())).toBe(0);
    expect(await sound.plan(await planned())).toBe(2);
    expect(await broken.take()).toBeNull();
    const first = await sound.take();
    await sound.complete(first!, { ratio: 2 });
    await given(team.settle([keysOf(wantedOn('A', Number(sizeOf(first!.data))))], null, LONG));
    // Completing a job removes its dead copy.
    expect(await deadJobs(own)).toHaveLength(1);
    for (let job; (job = await sound.take()) !== null; await endPauses()) await sound.fail(job, 'no');
    expect((await deadJobs(own)).map(({ machines }) => machines)).toEqual([['broken'], ['sound']]);
    expect(await sound.plan(await planned())).toBe(0);
    expect(await broken.plan(await planned())).toBe(0);
    expect(await retryDead(own)).toHaveLength(2);
    expect(await broken.take()).not.toBeNull();
  });

  test('dead jobs disappear after ninety days', async () => {
    const { queue, plan, database, own } = await queueWith([1]);
    await plan();
    for (let job; (job = await queue.take()) !== null;) {
      await queue.fail(job, 'no');
      await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
    }
    const ages = `UPDATE ${QUEUE_SCHEMA}.job SET keep_until = keep_until - $1::interval WHERE name = '${DEAD}'`;
    await database.query(ages, ['89 days']);
    await queue.supervise();
    expect(await deadJobs(own)).toHaveLength(1);
    await database.query(ages, ['1 day']);
    await queue.supervise();
    expect(await deadJobs(own)).toEqual([]);
    expect(await plan()).toBe(1);
  });

  test('take skips deferred jobs', async () => {
    const { queue, plan } = await queueWith([2, 1]);
    await plan();
    const first = await queue.take();
    await queue.handBack(first!);
    expect(sizeOf((await queue.take([first!.key!]))!.data)).toBe('2');
    expect(await queue.take([first!.key!])).toBeNull();
    expect(await queue.take()).toMatchObject({ id: first!.id });
  });

  test('the job of a silent worker becomes free', async () => {
    const { queue, plan, database } = await queueWith([1]);
    await plan();
    const job = await queue.take();
    await queue.supervise();
    expect(await queue.touch(job!)).toBe(true);
    await database.query(
      `UPDATE ${QUEUE_SCHEMA}.job SET heartbeat_on = now() - interval '1 minute' WHERE state = 'active'`,
    );
    await database.query(`UPDATE ${QUEUE_SCHEMA}.queue SET monitor_claim_on = NULL, monitor_on = NULL`);
    await queue.supervise();
    expect(await queue.touch(job!)).toBe(false);
    await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
    expect(await queue.take()).toMatchObject({ id: job!.id });
  });
});

describe.skipIf(isWithout(whyNoPostgres))('rights', () => {
  test('a worker may use the queue and create nothing; readers and writers may neither', async () => {
    const { database, own } = await queueWith([]);
    await expect(own.rows(`CREATE TABLE ${QUEUE_SCHEMA}.mine ()`)).rejects.toThrow('permission denied');
    await expect(own.rows('CREATE SCHEMA mine')).rejects.toThrow('permission denied');
    await expect(own.rows(`DROP TABLE ${QUEUE_SCHEMA}.job`)).rejects.toThrow('must be owner');
    for (const role of ['reader', 'writer'] as const) {
      const url = await database.login(role, { in: `iree_tuned_${role}` });
      for (const table of ['job', 'queue', 'version'])
        await expect(databaseOf(url).rows(`SELECT FROM ${QUEUE_SCHEMA}.${table}`)).rejects.toThrow(
          'permission denied',
        );
      await expect(openQueue(databaseOf(url), PLACE)).rejects.toThrow('permission denied');
      const team = client(url);
      const nothing = { target: PLACE.target, compiler: PLACE.compiler };
      for (const ask of [
        () => team.demands(nothing, LONG),
        () => team.settle([], null, LONG),
        () => team.fleet(LONG),
      ])
        expect(await refusal(ask())).toMatchObject({ kind: 'rejected' });
    }
  });

  test("nobody ends or changes another login's worker", async () => {
    const { team, database } = await queueWith([]);
    const other = await clientAs(database, 'worker', 'mallory');
    const worker = {
      id: '00000000-0000-4000-8000-000000000001',
      ...{ person: 'ada', machine: 'host-1', tool: '0.2.0', state: 'idle', holds: null, finished: 3 },
      ...{ target: PLACE.target, compiler: PLACE.compiler, device: PLACE.device },
    };
    expect(await given(team.attend(worker, LONG))).toMatchObject({ attended: 1 });
    expect(await given(other.attend({ ...worker, finished: 9 }, LONG))).toMatchObject({ attended: 0 });
    expect(await given(other.leave(worker, LONG))).toMatchObject({ left: 0 });
    expect((await given(team.fleet(LONG))).workers).toMatchObject([{ finished: 3, holds: null }]);
    expect(await given(team.leave(worker, LONG))).toMatchObject({ left: 1 });
  });

  test('an administrator creates the queue any number of times, and team roles hands it over', async () => {
    const database = await testDatabase();
    const address = readAddress(database.url);
    const superuser = openConnection(address, '');
    onTestFinished(() => {
      superuser.close();
    });
    await migrateTeam(superuser);
    const ofSuperuser = queueDatabase(address, '', superuser);
    await installQueue(ofSuperuser);
    await superuser.query(ROLES_SQL, [], LONG);
    const url = await database.login('admin', { in: 'iree_tuned_administrator' });
    await Promise.all([installQueue(databaseOf(url)), installQueue(ofSuperuser)]);
    const owners = await database.query(
      `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class WHERE relnamespace = '${QUEUE_SCHEMA}'::regnamespace`,
    );
    expect(owners).toEqual([{ owner: 'iree_tuned_administrator' }]);
    const worker = databaseOf(await database.login('worker', { in: 'iree_tuned_worker' }));
    const queue = await openQueue(worker, PLACE);
    await queue.close();
    expect(await worker.rows(`SELECT name FROM ${QUEUE_SCHEMA}.queue ORDER BY name`)).toEqual([
      { name: DEAD },
      { name: queueName(PLACE) },
    ]);
  });

  test('a server without a queue is an error that names the way out', async () => {
    const database = await testDatabase();
    await expect(openQueue(databaseOf(database.url), PLACE)).rejects.toThrow(
      'its administrator must run iree-tuned team migrate',
    );
  });
});

describe.skipIf(isWithout(whyNoPostgres))("the machine's lock", () => {
  test('one worker of a machine has it at a time, until its connection ends', async () => {
    const { url, database } = await queueWith([]);
    const [first, second, elsewhere] = [databaseOf(url), databaseOf(url), databaseOf(url)];
    const one = machineLock(first, 'a machine');
    const two = machineLock(second, 'a machine');
    expect([await one.hold(), await one.hold(), await two.hold()]).toEqual([true, true, false]);
    expect(await machineLock(elsewhere, 'another one').hold()).toBe(true);
    await one.release();
    expect([await two.hold(), await one.hold()]).toEqual([true, false]);
    await database.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    );
    while (!(await one.hold().catch(() => false))) await sleep(10);
    expect(await two.hold().catch(() => two.hold())).toBe(false);
  });
});
