// A search that continues a record, while other processes measure first; and reasons for which nothing is measured.
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MeasuringTools } from '../../src/compiler/find.ts';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { subjectOf } from '../../src/store/subject.ts';
import { tuneWorkloads, type Work } from '../../src/tuning/tune-workloads.ts';
import { receiveLines, revocationLineOf } from '../store/exchange/samples.ts';
import { DECISION, EVIDENCE, open, openExchange, temporaryPath } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { keyOfMatmul, siteOf, surroundingsOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';

const workload = matmul(61, 67, 71);
const key = keyOfMatmul(61, 67, 71);
const DEFAULT = { version: 1, kind: 'default' } as const;
const nothing = { ...EVIDENCE, ratio: 1, low: 1, high: 1, complete: false, tuningSeconds: 1 };
const found = { ...DECISION, createdAt: '2026-02-01T00:00:00.000Z' };

function place(deeds: Parameters<typeof fakeTools>[1] = {}, path = temporaryPath()) {
  const tools = fakeTools(temporaryDirectory(), deeds);
  const site = siteOf({ executable: tools.compiler, device: tools.device });
  const surroundings = surroundingsOf();
  const store = open(path);
  const subject = subjectOf({ key, workload }, site);
  store.putRecord(subject, { ...DECISION, configuration: DEFAULT, evidence: nothing });
  const work: Work = { key, workload, count: 1, options: SPACE, goesOnFrom: store.allRecords()[0]! };
  const measuring: MeasuringTools = tools;
  const tune = (
    patienceSeconds: number,
    using: MeasuringTools | null = measuring,
    { budgetSeconds = 60, givenSeconds = 60 } = {},
  ) =>
    tuneWorkloads([work], store, site, using, surroundings, {
      budgetSeconds,
      patienceSeconds,
      givenSeconds,
      signal: new AbortController().signal,
      effort: { trialsPerBatch: 2, maxTrials: 2, patience: 1, finalists: 1 },
    });
  return { store, subject, surroundings, tune };
}

test('without another process the search is continued', async () => {
  const { tune } = place();
  expect((await tune(60)).results.get(key)).toMatchObject({
    outcome: 'tuned',
    configuration: { kind: 'tile' },
    evidence: { trials: EVIDENCE.trials + 2 },
  });
});

test('a result of another process is used, a default included', async () => {
  for (const configuration of [DECISION.configuration, DEFAULT]) {
    const { store, subject, surroundings, tune } = place();
    const lock = await acquireMeasuringLock(surroundings, 0);
    const tuned = tune(60);
    const evidence = configuration === DEFAULT ? { ...nothing, tuningSeconds: 2 } : EVIDENCE;
    store.putRecord(subject, { ...found, configuration, evidence });
    lock!.release();
    expect((await tuned).results.get(key)).toMatchObject({ outcome: 'hit', configuration, evidence });
  }
});

test('without patience a build does not wait', async () => {
  const { surroundings, tune } = place();
  const lock = await acquireMeasuringLock(surroundings, 0);
  const { results, whyNot } = await tune(0);
  lock!.release();
  expect([...results]).toEqual([]);
  expect(whyNot.code).toBe('lock-busy');
});

test('without the tools of the runtime nothing is tuned', async () => {
  const { results, whyNot } = await place().tune(60, null);
  expect([results.size, whyNot.code]).toEqual([0, 'tools-missing']);
});

test('a benchmark that does not end shows a machine that is too busy', async () => {
  const { tune } = place({ benchmarkModule: 'exec sleep 600' });
  const { whyNot } = await tune(0, undefined, { budgetSeconds: 4, givenSeconds: 1 });
  expect(whyNot.code).toBe('machine-busy');
});

test('nothing is tuned for a machine whose records are revoked', async () => {
  const path = temporaryPath();
  const { tune } = place({}, path);
  receiveLines(openExchange(path), [revocationLineOf({ scope: 'origin', value: hostname() })]);
  const { results, whyNot } = await tune(60);
  expect([results.size, whyNot.code]).toEqual([0, 'revoked']);
});

test('nothing is tuned with a cache folder that has no place for work folders', async () => {
  const { surroundings, tune } = place();
  mkdirSync(surroundings.cacheDirectory, { recursive: true });
  writeFileSync(join(surroundings.cacheDirectory, 'work'), 'not a folder');
  const { results, whyNot } = await tune(60);
  expect([results.size, whyNot.code]).toEqual([0, 'cache-unwritable']);
});
