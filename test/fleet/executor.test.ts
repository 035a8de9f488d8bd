// @module-tag slow
// A plan of populate that workers of a fleet carry out, on a real server.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { deviceKey } from '../../src/backend/device.ts';
import { executorOfFleet } from '../../src/fleet/executor.ts';
import { placeOfWorker } from '../../src/fleet/job.ts';
import { planJobs } from '../../src/fleet/plan.ts';
import { openQueue } from '../../src/fleet/queue.ts';
import { openSqliteExchange } from '../../src/store/sqlite/exchange.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { placeOf, subjectOf } from '../../src/store/subject.ts';
import { QUEUE_SCHEMA } from '../../src/team/roles.ts';
import { DECISION, EVIDENCE, subjectOf as sample } from '../store/samples.ts';
import { SPACE } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { siteOf } from '../support/inspected.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { claimOf, client, given, LONG, partsOf } from '../team/support.ts';
import { databaseOf, fleetDatabase, keysOf, pretendedDevice } from './support.ts';

describe.skipIf(isWithout(whyNoPostgres))('a plan for workers', () => {
  test(
    'ends with a new record, the known record or a reason for each workload',
    { timeout: 120_000 },
    async () => {
      const database = await fleetDatabase();
      const url = await database.login('worker', { in: 'iree_tuned_worker' });
      const [team, worker, own] = [client(url), client(url), databaseOf(url)];
      const device = pretendedDevice('A');
      const site = siteOf({ device, deviceKey: deviceKey(device) });
      const path = join(temporaryDirectory(), 'tuning.db');
      const [store, local] = [openSqliteStore(path), openSqliteExchange(path)];
      onTestFinished(() => {
        store.close();
        local.close();
      });
      const works = [1, 2, 3, 4, 5].map((m) => {
        const { workload: key, workloadForm: workload } = sample(m);
        return { key, workload, count: 1, options: SPACE };
      });
      const [found, known, refused, dead, open] = works.map((work) => subjectOf(work, site));
      // The record of an unfinished search without a gain.
      store.putRecord(known!, {
        ...DECISION,
        configuration: DEFAULT_CONFIGURATION,
        evidence: { ...EVIDENCE, ratio: 1, low: 1, high: 1, complete: false },
      });
      const told: [string, string][] = [];
      const looks: number[] = [];
      const executor = executorOfFleet({
        ...{ sites: [{ site }], team, database: own, store, local },
        prepare: () => Promise.reject(new Error('nothing is surveyed here')),
        onLook: (left) => looks.push(left),
      });
      const finishEarly = new AbortController();
      const ending = executor.tune(works, new Set([known!.workload]), 0, {
        ...{ budgetSeconds: 600, finishEarly: finishEarly.signal, signal: new AbortController().signal },
        onResult: (key, { outcome }) => told.push([key, outcome]),
      });

      // From here the test plays the workers.
      const { target, compiler } = placeOf(site);
      const wanted = () => given(worker.demands({ target, compiler }, LONG));
      while ((await wanted()).demands.length < works.length) await sleep(50);
      const place = placeOfWorker(site);
      const queue = await openQueue(databaseOf(url), place);
      onTestFinished(() => queue.close());
      const { jobs } = planJobs(await wanted(), place);
      await queue.plan(jobs.filter(({ job }) => job.workload === dead!.workload));
      for (let attempt = 0; attempt < 5; attempt++) {
        await database.query(`UPDATE ${QUEUE_SCHEMA}.job SET start_after = now() WHERE state = 'retry'`);
        await queue.fail((await queue.take())!, 'it has no default');
      }
      await given(worker.settle([keysOf(refused!)], 'it is measured in a program', LONG));
      await given(worker.push([...partsOf(found), claimOf({ subject: found! })], LONG));
      // The worker settles a demand without a new record, because its budget is smaller.
      await given(worker.settle([keysOf(found!), keysOf(known!)], null, LONG));

      while (told.length < 2 || looks.at(-1) !== 1) await sleep(50);
      finishEarly.abort();
      const { results, undecided, whyNot } = await ending;
      expect(new Map(told)).toEqual(
        new Map([
          [found!.workload, 'tuned'],
          [known!.workload, 'hit'],
        ]),
      );
      expect([...results.keys()].sort()).toEqual([found!.workload, known!.workload].sort());
      expect([...undecided].map(([key, { reason }]) => [key, reason]).sort()).toEqual(
        [
          [refused!.workload, 'it is measured in a program'],
          [
            dead!.workload,
            expect.stringMatching(/^it has no default \(iree-tuned team queue --retry \w{8} tries again\)$/),
          ],
        ].sort(),
      );
      expect(whyNot.code).toBe('job-pending');
      expect((await wanted()).demands.map(({ workload }) => workload)).toContain(open!.workload);
    },
  );
});
