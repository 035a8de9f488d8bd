// @module-tag slow
// Many workers and jobs: the work of the server for a job does not grow with the number of jobs.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { queueName } from '../../src/fleet/job.ts';
import { machineLock } from '../../src/fleet/machine.ts';
import type { ServerDatabase } from '../../src/fleet/database.ts';
import { runStates } from '../../src/fleet/overview.ts';
import { openQueue } from '../../src/fleet/queue.ts';
import { runWorker } from '../../src/fleet/worker.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { ALONE, databaseOf, fleetDatabase, jobOf, PLACE } from './support.ts';

const [JOBS, WORKERS, JOB_MS] = [10_000, 50, 500];

/** Statements and their bytes, rows included, since the start. */
const sent = { statements: 0, bytes: 0 };

/** A connection of a worker, whose statements count. */
function counted(url: string): ServerDatabase {
  const database = databaseOf(url, queueName(PLACE));
  const rows: ServerDatabase['rows'] = async (text, values = []) => {
    const found = await database.rows(text, values);
    sent.statements++;
    sent.bytes += text.length + JSON.stringify(values).length + JSON.stringify(found).length;
    return found;
  };
  return {
    ...{ ...database, rows },
    executeSql: async (text, values) => ({ rows: [...(await rows(text, values))] }),
  };
}

test.skipIf(isWithout(whyNoPostgres))(
  `${WORKERS} workers do ${JOBS} jobs with as many statements and bytes a second at the end as at the beginning`,
  { timeout: 600_000 },
  async () => {
    const { url } = await fleetDatabase();
    const own = counted(url);
    const queue = await openQueue(own, PLACE);
    const begun = performance.now();
    const run = await queue.submit(Array.from({ length: JOBS }, (_, m) => jobOf(m + 1)));
    await queue.close();
    console.log('submission', { seconds: (performance.now() - begun) / 1000, ...sent });

    const never = new AbortController().signal;
    const workers = Array.from({ length: WORKERS }, async (_, i) => {
      const database = counted(url);
      await runWorker({
        ...{ ...ALONE, untilIdle: true, machine: machineLock(database, `machine ${i}`) },
        queue: await openQueue(database, PLACE, `machine ${i}`),
        signals: { drain: never, abort: never, 'give-up': never },
        say: () => undefined,
        doJob: async () => {
          await sleep(JOB_MS);
          return { outcome: 'done', summary: 'pretended' };
        },
      });
    });
    const ends = Promise.all(workers).then(() => true);
    const looks: { at: number; done: number; statements: number; bytes: number }[] = [];
    for (let isOver = false; !isOver; isOver = (await Promise.race([ends, sleep(3000)])) === true) {
      // A follower looks as often.
      const { done, failed } = (await runStates(own, run))[0]!;
      expect(failed).toBe(0);
      looks.push({ at: performance.now() / 1000, done, ...sent });
    }
    expect(await runStates(own, run)).toMatchObject([{ done: JOBS, waiting: 0, active: 0 }]);
    const fifths = [1, 2, 3, 4].map((fifth) => {
      const from = looks.findLast(({ done }) => done <= (fifth * JOBS) / 5 - JOBS / 10)!;
      const to = looks.find(({ done }) => done >= (fifth * JOBS) / 5 + JOBS / 10) ?? looks.at(-1)!;
      const per = (name: 'done' | 'statements' | 'bytes') =>
        Math.round((to[name] - from[name]) / (to.at - from.at));
      return { jobs: per('done'), statements: per('statements'), bytes: per('bytes') };
    });
    console.log('a second', fifths);
    const [first, last] = [fifths[0]!, fifths.at(-1)!];
    for (const name of ['statements', 'bytes'] as const)
      expect(last[name] / last.jobs).toBeLessThan((1.2 * first[name]) / first.jobs);
  },
);
