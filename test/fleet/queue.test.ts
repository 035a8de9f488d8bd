// @module-tag slow
// Jobs on a real server.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { QUEUE_SCHEMA } from '../../src/fleet/boss.ts';
import type { ServerDatabase } from '../../src/fleet/database.ts';
import { queueName } from '../../src/fleet/job.ts';
import { machineLock } from '../../src/fleet/machine.ts';
import {
  cancel,
  idOf,
  isPaused,
  jobStates,
  pause,
  queueStates,
  resume,
  retry,
  runStates,
  type RunState,
} from '../../src/fleet/overview.ts';
import { installQueue, JOBS, openQueue, PAUSED, RUNS } from '../../src/fleet/queue.ts';
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
  /** Ends the pauses of retries. */
  const endPauses = () =>
    database.query(`UPDATE ${JOBS} SET start_after = now() - interval '1 minute' WHERE state = 'retry'`);
  /** Fails the next job until it is failed for good. */
  const failNext = async () => {
    const first = (await queue.take())!;
    await queue.fail(first, 'it has no default');
    for (let attempt = 1; attempt < 5; attempt++) {
      await endPauses();
      const again = await queue.take();
      expect(again).toMatchObject({ id: first.id });
      await queue.fail(again!, 'it has no default', [`attempt ${attempt + 1}`]);
    }
    return first;
  };
  return { database, url, own, queue, jobs, submit: () => queue.submit(jobs), endPauses, failNext };
}

const sizeOf = (data: unknown) => /m=(\d+)/.exec((data as { workload: string }).workload)![1];

const countsOf = async (database: ServerDatabase, run: string) => {
  const [{ waiting, active, done, failed, cancelled }] = (await runStates(database, run)) as [RunState];
  return { waiting, active, done, failed, cancelled };
};

const NONE = { waiting: 0, active: 0, done: 0, failed: 0, cancelled: 0 };

describe.skipIf(isWithout(whyNoPostgres))('the queue', () => {
  test('has one job for each workload, the most wanted first', async () => {
    const { queue, submit, jobs, own } = await queueWith([1, 3, 2]);
    const runs = await Promise.all([queue.submit(jobs), queue.submit(jobs), queue.submit(jobs)]);
    for (const run of runs) expect(await countsOf(own, run)).toEqual({ ...NONE, waiting: 3 });
    expect(await queueStates(own)).toMatchObject([{ ...PLACE, waiting: 3 }]);
    // A later submission raises the priority of a waiting job, and sets its budget.
    const [first] = [jobOf(1, 6)];
    await queue.submit([{ ...first, job: { ...first.job, budgetSeconds: 7 } }]);
    const taken = [await queue.take(), await queue.take(), await queue.take()];
    expect(taken.map((job) => sizeOf(job!.data))).toEqual(['1', '2', '3']);
    expect(taken[0]!.data).toMatchObject({ budgetSeconds: 7 });
    expect(await queue.take()).toBeNull();
    // An active job is not submitted again.
    expect(await countsOf(own, await submit())).toEqual({ ...NONE, active: 3 });
  });

  test('a job of an earlier run stays done, and a new run does its work again', async () => {
    const { queue, submit, own } = await queueWith([1]);
    const first = await submit();
    await queue.complete((await queue.take())!, []);
    const second = await submit();
    expect(await countsOf(own, first)).toEqual({ ...NONE, done: 1 });
    expect(await countsOf(own, second)).toEqual({ ...NONE, waiting: 1 });
  });

  test('two concurrent takes get two jobs', async () => {
    const { queue, submit, url } = await queueWith([1, 1, 1, 1]);
    await submit();
    const other = await openQueue(databaseOf(url), PLACE);
    onTestFinished(() => other.close());
    const taken = await Promise.all([queue.take(), other.take(), queue.take(), other.take()]);
    expect(new Set(taken.map((job) => job!.id)).size).toBe(4);
  });

  test('a job that is handed back can be taken at once, and counts no failure', async () => {
    const { queue, submit, database, endPauses } = await queueWith([7]);
    await submit();
    for (let i = 0; i < 8; i++) {
      const job = await queue.take();
      expect(sizeOf(job!.data)).toBe('1');
      await queue.handBack(job!);
    }
    const rows = () =>
      database.query(
        `SELECT state, retry_count, priority, group_id FROM ${JOBS} WHERE name = '${queueName(PLACE)}'`,
      );
    expect(await rows()).toEqual([{ state: 'created', retry_count: 0, priority: 7, group_id: null }]);
    await queue.fail((await queue.take())!, 'no');
    await endPauses();
    const failed = await rows();
    await queue.handBack((await queue.take())!);
    expect(await rows()).toEqual(failed);
  });

  test('a late worker cannot fail or hand back a job that another worker took, but can complete it', async () => {
    const { queue, submit, database } = await queueWith([1]);
    await submit();
    const late = await queue.take();
    await database.query(
      `UPDATE ${JOBS} SET state = 'retry', start_after = now() - interval '1 minute' WHERE state = 'active'`,
    );
    expect(await queue.touch(late!)).toBe('lost');
    const now = await queue.take();
    expect(now).toMatchObject({ id: late!.id });
    expect(await queue.touch(late!)).toBe('lost');
    await queue.fail(late!, 'no');
    await queue.handBack(late!);
    expect(await queue.touch(now!)).toBe('held');
    await queue.complete(late!, []);
    expect(await queue.touch(now!)).toBe('lost');
    expect(await queue.take()).toBeNull();
  });

  test('a job that fails too often stays failed with its log, and can be retried by hand', async () => {
    const { queue, submit, own, endPauses, failNext } = await queueWith([2, 1]);
    const run = await submit();
    const { id } = await failNext();
    const [failed] = await jobStates(own);
    expect(failed).toMatchObject({
      state: 'failed',
      attempts: 5,
      reason: 'it has no default',
      machines: ['broken'],
    });
    const attempts = [...failed!.log.matchAll(/on broken\n(?:attempt \d\n)?failed: it has no default/g)];
    expect(attempts).toHaveLength(5);
    expect(await countsOf(own, run)).toEqual({ ...NONE, waiting: 1, failed: 1 });
    // It counts in a new run, too.
    expect(await countsOf(own, await submit())).toEqual({ ...NONE, waiting: 1, failed: 1 });
    await expect(idOf(own, 'ffff-none')).rejects.toThrow('no run or job has an id that begins with');
    expect(await retry(own, await idOf(own, id.slice(0, 13)))).toEqual([id]);
    await endPauses();
    expect(await queue.take()).toMatchObject({ id });
  });

  test('a machine leaves the retries of its own failures to others for a minute', async () => {
    const { queue, submit, database, url } = await queueWith([1]);
    const sound = await openQueue(databaseOf(url), PLACE, 'sound');
    onTestFinished(() => sound.close());
    await submit();
    await queue.fail((await queue.take())!, 'no such file: libm.so');
    await database.query(`UPDATE ${JOBS} SET start_after = now() WHERE state = 'retry'`);
    expect(await queue.take()).toBeNull();
    expect(await sound.take()).not.toBeNull();
  });

  test('a pause ends by hand only', async () => {
    const { queue, submit, own } = await queueWith([1]);
    await submit();
    await pause(own);
    await pause(own);
    expect([await isPaused(own), await queue.take()]).toEqual([true, null]);
    await resume(own);
    expect([await isPaused(own), await queue.take()]).toEqual([false, expect.anything()]);
  });

  test('a cancelled run takes its jobs along, except those that another run wants', async () => {
    const { queue, jobs, own } = await queueWith([3, 2, 1]);
    const [first, second] = [await queue.submit(jobs.slice(0, 2)), await queue.submit(jobs.slice(1))];
    const running = (await queue.take())!;
    expect(await cancel(own, await idOf(own, first))).toEqual([running.id]);
    expect(await queue.touch(running)).toBe('cancelled');
    // The late worker changes nothing.
    await queue.complete(running, []);
    expect(await countsOf(own, first)).toEqual({ ...NONE, waiting: 1, cancelled: 1 });
    const next = (await queue.take())!;
    expect(await cancel(own, next.id)).toEqual([next.id]);
    expect(await countsOf(own, second)).toEqual({ ...NONE, waiting: 1, cancelled: 1 });
  });

  test('the time left of a run follows from its jobs and the connected workers', async () => {
    const { queue, submit, own, database, url } = await queueWith([4, 3, 2, 1]);
    const run = await submit();
    await queue.complete((await queue.take())!, []);
    await database.query(
      `UPDATE ${JOBS} SET started_on = completed_on - interval '10 s' WHERE state = 'completed'`,
    );
    await queue.take();
    expect(await runStates(own, run)).toMatchObject([{ workers: 0, secondsLeft: null }]);
    const worker = databaseOf(url, queueName(PLACE));
    await worker.rows('SELECT');
    expect(await runStates(own)).toMatchObject([{ id: run, ...PLACE, workers: 1, secondsLeft: 25 }]);
    expect(await queueStates(own)).toMatchObject([
      { workers: 1, waiting: 2, active: 1, done: 1, secondsEach: 10 },
    ]);
  });

  test('jobs and runs disappear after thirty days', async () => {
    const { queue, submit, database, own } = await queueWith([1, 1]);
    await submit();
    await queue.complete((await queue.take())!, []);
    const ages = `UPDATE ${JOBS} SET keep_until = keep_until - $1::interval, completed_on = completed_on - $1::interval`;
    const clean = async () => {
      await database.query(`UPDATE ${QUEUE_SCHEMA}.queue SET maintain_on = NULL`);
      await queue.supervise();
      // A submission removes old runs.
      await queue.submit([]);
      return [
        await database.query(`SELECT FROM ${JOBS} WHERE name = '${queueName(PLACE)}'`),
        await runStates(own),
      ].map(({ length }) => length);
    };
    await database.query(ages, ['29 days']);
    expect(await clean()).toEqual([2, 2]);
    await database.query(ages, ['1 day']);
    expect(await clean()).toEqual([0, 2]);
  });

  test('take skips deferred jobs', async () => {
    const { queue, submit } = await queueWith([2, 1]);
    await submit();
    const first = await queue.take();
    await queue.handBack(first!);
    expect(sizeOf((await queue.take([first!.key!]))!.data)).toBe('2');
    expect(await queue.take([first!.key!])).toBeNull();
    expect(await queue.take()).toMatchObject({ id: first!.id });
  });

  test('the job of a silent worker becomes free', async () => {
    const { queue, submit, database, endPauses } = await queueWith([1]);
    await submit();
    const job = await queue.take();
    await queue.supervise();
    expect(await queue.touch(job!)).toBe('held');
    await database.query(
      `UPDATE ${QUEUE_SCHEMA}.job SET heartbeat_on = now() - interval '1 minute' WHERE state = 'active'`,
    );
    await database.query(`UPDATE ${QUEUE_SCHEMA}.queue SET monitor_claim_on = NULL, monitor_on = NULL`);
    await queue.supervise();
    expect(await queue.touch(job!)).toBe('lost');
    await endPauses();
    expect(await queue.take()).toMatchObject({ id: job!.id });
  });
});

describe.skipIf(isWithout(whyNoPostgres))('the tables', () => {
  test('a queue is installed any number of times, and by several at once', async () => {
    const database = await testDatabase();
    const [one, two] = [databaseOf(database.url), databaseOf(database.url)];
    await Promise.all([installQueue(one), installQueue(two)]);
    await installQueue(one);
    const queue = await openQueue(two, PLACE);
    await queue.close();
    expect(await one.rows(`SELECT name FROM ${QUEUE_SCHEMA}.queue ORDER BY name`)).toEqual([
      { name: PAUSED },
      { name: RUNS },
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
