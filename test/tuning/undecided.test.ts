// @module-tag slow
// Undecided workloads are noted with their budget; interrupted searches are not.
import { expect, test } from 'vitest';
import { StoppedError } from '../../src/measure/toolchain.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { subjectOf } from '../store/samples.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';
import { jobOf, newStore, realClock, tuneWith, type TuningJob } from './support.ts';

const shape = matmul(61, 67, 71);
const subject = subjectOf(61, { workloadForm: shape });
const job = jobOf(subject, {
  effort: { ...DEFAULT_EFFORT, trialsPerBatch: 2, maxTrials: 2 },
  ...{ budgetSeconds: 40, clock: realClock },
});

/** Tunes with scripted tools, and returns the notes about undecided workloads. */
async function tune(deeds: Parameters<typeof fakeTools>[1], change: Partial<TuningJob> = {}) {
  const store = newStore();
  const result = await tuneWith(fakeTools(temporaryDirectory(), deeds), store, { ...job, ...change });
  return { result, undecided: store.findUndecided([subject.workload], subject) };
}

test.each([
  [
    'does not compile',
    { compiler: 'echo "$PWD/x.mlir:1:1: error: no such type" >&2; exit 1' },
    /^the default does not compile: /,
    5,
  ],
  ['does not run', { benchmarkModule: 'exit 3' }, /^the default does not run: exit code 3$/, 5],
  [
    'is too slow for the budget',
    { benchmarkModule: 'case "$*" in *batch*) exec sleep 600;; esac' },
    /^the default is too slow .*: one run took longer than/,
    5,
  ],
  [
    'cannot be measured in the end',
    { benchmarkModule: 'case "$*" in *finals*.vmfb*) exit 3;; esac' },
    /could not be measured/,
    5,
  ],
])('a default that %s is undecided, and the note has the budget', async (_, deeds, reason, budgetSeconds) => {
  const { result, undecided } = await tune(deeds, { budgetSeconds });
  expect(result).toBeNull();
  expect(undecided).toMatchObject([
    { reason: expect.stringMatching(reason) as string, budgetSeconds, attempts: 1 },
  ]);
});

test('a slow default on a machine where everything is slow leaves no note', async () => {
  const { result, undecided } = await tune({ benchmarkModule: 'exec sleep 600' }, { budgetSeconds: 5 });
  expect(result).toBeNull();
  expect(undecided).toEqual([]);
});

test('a decided workload has no note', async () => {
  const { result, undecided } = await tune({});
  expect(result).not.toBeNull();
  expect(undecided).toEqual([]);
});

test('a search that ends before its first batch leaves no note', async () => {
  expect((await tune({}, { finishEarly: AbortSignal.abort() })).undecided).toEqual([]);
});

test('a stopped search leaves no note', async () => {
  const store = newStore();
  const stopped = { ...fakeTools(temporaryDirectory()), signal: AbortSignal.abort() };
  await expect(tuneWith(stopped, store, job)).rejects.toThrow(StoppedError);
  expect(store.findUndecided([subject.workload], subject)).toEqual([]);
});
