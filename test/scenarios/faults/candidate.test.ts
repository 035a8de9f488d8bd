import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { coordinateDescent } from '../../../src/search/descent.ts';
import { llvmCpu } from '../../../src/backend/llvm-cpu/index.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts';
import { DEFAULT_EFFORT } from '../../../src/tuning/search-job.ts';
import { subjectOf } from '../../store/samples.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { toolchain } from '../../support/real-tools.ts';
import { simulatedTools } from '../../support/simulated-tools.ts';
import { SPACE } from '../../support/backend.ts';
import { matmul } from '../../support/workloads.ts';
import { tuneWith } from '../../tuning/support.ts';

// Wrong results are in test/tuner, memory is in test/measure.
test.each([
  ['hangs', 'exec sleep 600', 'timeout', /^took longer than/],
  ['crashes', 'ulimit -c 0; kill -SEGV $$', 'run-error', /^ended by SIGSEGV$/],
])('a candidate that %s fails alone', { timeout: 300_000 }, async (_, deed, outcome, message) => {
  const folder = temporaryDirectory();
  const workDirectory = join(folder, 'work', 'tuning-test');
  mkdirSync(workDirectory, { recursive: true });
  // The times of candidates are simulated. One candidate fails.
  const compiler = simulatedTools(join(folder, 'tools'));
  const tool = (name: string) => join(dirname(compiler), '..', '..', '_runtime_libs', name);
  const tools = {
    ...(await toolchain(workDirectory)),
    ...{ compiler, benchmarkModule: tool('iree-benchmark-module'), runModule: tool('iree-run-module') },
  };
  // Every process that runs the second candidate fails.
  const benchmarkModule = join(folder, 'benchmark');
  writeFileSync(
    benchmarkModule,
    `#!/bin/sh
case "$*" in *--benchmark_filter=*c1*) ${deed} ;; esac
exec '${tools.benchmarkModule}' "$@"
`,
    { mode: 0o755 },
  );
  const form = matmul(61, 67, 71);
  const subject = subjectOf(61, { workloadForm: form });
  const store = openSqliteStore(join(folder, 'tuning.db'));
  const result = await tuneWith({ ...tools, benchmarkModule }, store, {
    subject,
    backend: llvmCpu,
    options: SPACE,
    strategy: coordinateDescent,
    effort: { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 },
    budgetSeconds: 280,
    clock: () => performance.now() / 1000,
  });
  const [stock, first, second, ...others] = store.trials(subject);
  expect(second).toMatchObject({ outcome, message: expect.stringMatching(message) as string });
  expect([first, ...others].map((trial) => trial?.outcome)).toContain('measured');
  expect(stock).toMatchObject({ configuration: { kind: 'default' }, outcome: 'measured' });
  expect(result!.configuration).not.toEqual(second!.configuration);
  store.close();
});
