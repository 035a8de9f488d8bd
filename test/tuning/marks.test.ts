// @module-tag slow
// Marked configurations are neither tried nor chosen.
import { expect, test } from 'vitest';
import { configurationKey } from '../../src/backend/index.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import { type Configuration } from '../../src/backend/configuration.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { MARK, subjectOf } from '../store/samples.ts';
import { WIDE } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';
import { jobOf, newStore, realClock, tuneWith } from './support.ts';

const shape = matmul(64, 64, 64);
const subject = subjectOf(64, { workloadForm: shape });
const options = { ...WIDE, wholeProgram: true, following: true };
const space = llvmCpu.tuning(shape).space(options);
const job = jobOf(subject, {
  options,
  effort: { ...DEFAULT_EFFORT, trialsPerBatch: 6, maxTrials: 24 },
  ...{ budgetSeconds: 120, clock: realClock },
});

const prepare = () => ({ folder: temporaryDirectory(), store: newStore() });

const marks = (configurations: readonly Configuration[]) =>
  configurations.map((configuration) => ({ ...MARK, configuration }));

test('a marked configuration is not tried again, even if it was the fastest', async () => {
  const { folder, store } = prepare();
  const [first, fifth] = [space.starts[0]!, space.starts[5]!].map((start) => space.configurationAt(start)!);
  const marked = [first!, fifth!, DATA_TILE_CONFIGURATION];
  const fast = { outcome: 'measured', seconds: 1e-9, ratio: 1e6, message: null, strategy: 'test' } as const;
  store.addTrials(
    subject,
    marked.map((configuration) => ({ ...fast, configuration })),
  );
  store.addMarks(subject, marks(marked));
  const result = await tuneWith(fakeTools(folder), store, job);
  const tried = store.trials(subject).slice(marked.length);
  expect(tried.length).toBeGreaterThan(20);
  const keys = marked.map(configurationKey);
  for (const { configuration } of tried) expect(keys).not.toContain(configurationKey(configuration));
  expect(result!.configuration.kind).toBe('tile');
  // The family of a marked configuration was part of the space.
  expect(result!.evidence.families).toEqual(['data-tile', 'tile']);
});

test('a configuration that is marked during its search does not win', async () => {
  const { folder, store } = prepare();
  const result = await tuneWith(fakeTools(folder), store, {
    ...job,
    onProgress: ({ stage }) => {
      const tried = store.trials(subject).map(({ configuration }) => configuration);
      if (stage === 'finals') store.addMarks(subject, marks(tried.filter(({ kind }) => kind !== 'default')));
    },
  });
  expect(result!.configuration.kind).toBe('default');
  expect(store.allRecords()).toMatchObject([{ failure: null }]);
});

test('a configuration whose output is wrong is marked, and one that did not run is not', async () => {
  const { folder, store } = prepare();
  const tools = fakeTools(folder, {
    runModule: 'case "$*" in *--function=[cf]1*) exit 1;; esac',
    afterRun: 'case "$*" in *--function=[cf]0*) printf wrong >"$output";; esac',
  });
  const result = await tuneWith(tools, store, job);
  const failed = store.trials(subject).filter(({ message }) => message !== null);
  expect(failed.map(({ outcome }) => outcome)).toEqual(['wrong-result', 'run-error']);
  expect(store.marks(subject)).toMatchObject([
    { configuration: failed[0]!.configuration, kind: 'wrong-result', reason: failed[0]!.message },
  ]);
  // The third finalist wins.
  expect(result!.configuration.kind).toBe('tile');
});
