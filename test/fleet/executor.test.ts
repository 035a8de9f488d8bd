// @module-tag slow
// A plan of `iree-tuned tune` that workers of a fleet carry out, on a real server.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deviceKey } from '../../src/backend/device.ts';
import { QUEUE_SCHEMA } from '../../src/fleet/boss.ts';
import { executorOfFleet } from '../../src/fleet/executor.ts';
import { placeOfWorker } from '../../src/fleet/job.ts';
import { openQueue } from '../../src/fleet/queue.ts';
import type { TuningRecord } from '../../src/store/store.ts';
import { keysOf, subjectOf } from '../../src/store/subject.ts';
import { DECISION, EVIDENCE, subjectOf as sample } from '../store/samples.ts';
import { SPACE } from '../support/backend.ts';
import { siteOf } from '../support/inspected.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { databaseOf, fleetDatabase, pretendedDevice } from './support.ts';

describe.skipIf(isWithout(whyNoPostgres))('a plan for workers', () => {
  test(
    'ends with a new record, the known record or a reason for each workload',
    { timeout: 120_000 },
    async () => {
      const database = await fleetDatabase();
      const device = pretendedDevice('A');
      const site = siteOf({ device, deviceKey: deviceKey(device) });
      const works = [1, 2, 3, 4].map((m) => {
        const { workload: key, workloadForm: workload } = sample(m);
        return { key, workload, count: 10 - m, options: SPACE };
      });
      const [found, known, dead, open] = works.map(({ key }) => key);
      /** The records of the base. */
      const base = new Map<string, TuningRecord>();
      const put = (key: string, tuningSeconds: number) => {
        const work = works.find((one) => one.key === key)!;
        const evidence = { ...EVIDENCE, tuningSeconds };
        const rest = { createdBy: 'u', machine: 'm', tool: '1', digest: key, failure: null };
        base.set(key, { ...DECISION, ...keysOf(subjectOf(work, site)), evidence, ...rest });
      };
      put(known!, 10);
      const told: [string, string][] = [];
      const looks: number[] = [];
      const executor = executorOfFleet({
        sites: [{ site }],
        prepare: () => Promise.reject(new Error('nothing is surveyed here')),
        queueAt: (at) => openQueue(databaseOf(database.url), placeOfWorker(at)),
        recordsAt: (keys) => Promise.resolve(new Map([...base].filter(([key]) => keys.includes(key)))),
        onLook: (left) => looks.push(left),
      });
      const finishEarly = new AbortController();
      const ending = executor.tune(works, new Set([known!]), 0, {
        ...{ budgetSeconds: 600, finishEarly: finishEarly.signal, signal: new AbortController().signal },
        onResult: (key, { outcome }) => told.push([key, outcome]),
      });

      // From here the test plays the workers.
      const queue = await openQueue(databaseOf(database.url), placeOfWorker(site));
      onTestFinished(() => queue.close());
      while ((await queue.states()).size < works.length) await sleep(50);
      const [first, second] = [await queue.take(), await queue.take()];
      put(found!, 20);
      await queue.complete(first!, { ratio: 2 });
      // The worker's budget for the known one was smaller.
      await queue.complete(second!, { ratio: 2 });
      for (let attempt = 0; attempt < 5; attempt++) {
        await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
        await queue.fail((await queue.take())!, 'it has no default');
      }

      while (told.length < 2 || looks.at(-1) !== 1) await sleep(50);
      finishEarly.abort();
      const { results, undecided, whyNot } = await ending;
      expect(told).toEqual([
        [found, 'tuned'],
        [known, 'hit'],
      ]);
      expect([...results.keys()]).toEqual([found, known]);
      expect([...undecided].map(([key, { reason }]) => [key, reason])).toEqual([
        [
          dead,
          expect.stringMatching(/^it has no default \(iree-tuned team queue --retry \w{8} tries again\)$/),
        ],
      ]);
      expect(whyNot.code).toBe('job-pending');
      expect((await queue.take())?.data).toMatchObject({ workload: open });
    },
  );
});
