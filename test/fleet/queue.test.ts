// @module-tag slow
// Jobs on a real server.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { QUEUE_SCHEMA } from '../../src/fleet/boss.ts';
import { installQueue } from '../../src/fleet/install.ts';
import { jobKey, queueName } from '../../src/fleet/job.ts';
import { machineLock } from '../../src/fleet/machine.ts';
import { activeJobs, deadJobs, queueStates, retryDead } from '../../src/fleet/overview.ts';
import { DEAD, openQueue } from '../../src/fleet/queue.ts';
import { subjectOf } from '../store/samples.ts';
import { isWithout } from '../support/needs.ts';
import { testDatabase, whyNoPostgres } from '../support/postgres.ts';
import { databaseOf, fleetDatabase, jobOf, PLACE } from './support.ts';

/** A worker's queue, and jobs with these priorities. */
async function queueWith(priorities: readonly number[]) {
  const database = await fleetDatabase();
  const { url } = database;
  const own = databaseOf(url);
  const queue = await openQueue(own, PLACE, 'broken');
  onTestFinished(() => queue.close());
  const jobs = priorities.map((priority, i) => jobOf(i + 1, priority));
  return { database, url, own, queue, jobs, plan: () => queue.plan(jobs) };
}

const sizeOf = (data: unknown) => /m=(\d+)/.exec((data as { workload: string }).workload)![1];

describe.skipIf(isWithout(whyNoPostgres))('the queue', () => {
  test('has one job for each workload, the most wanted first', async () => {
    const { queue, plan, jobs } = await queueWith([1, 3, 2]);
    const added = await Promise.all([queue.plan(jobs), queue.plan(jobs), queue.plan(jobs)]);
    expect(added.toSorted()).toEqual([0, 0, 3]);
    // A later submission raises the priority of a waiting job.
    expect(await queue.plan([jobOf(1, 6)])).toBe(0);
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
    expect(await queue.take()).toMatchObject({ key: jobKey(subjectOf(1).workload) });
  });

  test('a job that fails or kills one machine is dead for that machine only', async () => {
    const { queue: broken, plan, jobs, database, own, url } = await queueWith([1, 1]);
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
    expect(await broken.plan(jobs)).toBe(0);
    expect(await sound.plan(jobs)).toBe(2);
    expect(await broken.take()).toBeNull();
    const first = await sound.take();
    await sound.complete(first!, { ratio: 2 });
    // Completing a job removes its dead copy.
    expect(await deadJobs(own)).toHaveLength(1);
    for (let job; (job = await sound.take()) !== null; await endPauses()) await sound.fail(job, 'no');
    expect((await deadJobs(own)).map(({ machines }) => machines)).toEqual([['broken'], ['sound']]);
    const left = jobs.filter(({ job }) => jobKey(job.workload) !== first!.key);
    expect(await sound.plan(left)).toBe(0);
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

describe.skipIf(isWithout(whyNoPostgres))('states', () => {
  test('of waiting, running, finished and dead jobs', async () => {
    const { queue, plan, own, database } = await queueWith([4, 3, 2, 1]);
    await plan();
    await queue.complete((await queue.take())!, { ratio: 2 });
    const running = await queue.take();
    await queue.handBack(running!);
    for (;;) {
      await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
      const job = await queue.take([running!.key!]);
      if (job === null || sizeOf(job.data) !== '3') break;
      await queue.fail(job, 'it has no default');
    }
    const states = await queue.states();
    const stateOf = (m: number) => states.get(jobKey(subjectOf(m).workload));
    expect([1, 2, 3, 4].map((m) => stateOf(m)?.state)).toEqual(['done', 'open', 'dead', 'open']);
    expect(stateOf(3)).toMatchObject({ reason: 'it has no default' });
    expect(await activeJobs(own)).toMatchObject([{ machine: 'broken', workload: subjectOf(4).workload }]);
  });

  test('a queue is installed any number of times, and by several at once', async () => {
    const database = await testDatabase();
    const [one, two] = [databaseOf(database.url), databaseOf(database.url)];
    await Promise.all([installQueue(one), installQueue(two)]);
    await installQueue(one);
    const queue = await openQueue(two, PLACE);
    await queue.close();
    expect(await one.rows(`SELECT name FROM ${QUEUE_SCHEMA}.queue ORDER BY name`)).toEqual([
      { name: DEAD },
      { name: queueName(PLACE) },
    ]);
    const stranger = databaseOf(await database.login('stranger'));
    await expect(openQueue(stranger, PLACE)).rejects.toThrow('permission denied');
  });

  test('a server without a queue is an error that names the way out', async () => {
    const database = await testDatabase();
    await expect(openQueue(databaseOf(database.url), PLACE)).rejects.toThrow(
      'run iree-tuned team queue --install',
    );
    const stranger = databaseOf(await database.login('stranger'));
    await expect(installQueue(stranger)).rejects.toThrow('this login may not create the schema of the queue');
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
