// In full after a change of src/tuning, src/measure.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_EFFORT } from '../../../src/tuning/search-job.ts';
import { subjectOf } from '../../store/samples.ts';
import { matmul } from '../../support/workloads.ts';
import { jobOf, newStore, realClock, simulatedToolchain, tuneWith } from '../../tuning/support.ts';
import { casesOfTier } from '../../support/needs.ts';
import { program } from '../../support/scripts.ts';

// Wrong results are in test/tuning, memory is in test/measure.
const deeds: [string, string, string, RegExp][] = [
  ['crashes', 'ulimit -c 0; kill -SEGV $$', 'run-error', /^ended by SIGSEGV$/],
  ['hangs', 'exec sleep 600', 'timeout', /^took longer than/],
];
test.each(casesOfTier(deeds, 1))(
  'a candidate that %s fails alone',
  { timeout: 300_000 },
  async (_, deed, outcome, message) => {
    const tools = await simulatedToolchain();
    // Every process that runs the second candidate fails.
    const benchmarkModule = program(
      join(tools.workDirectory, 'benchmark'),
      `case "$*" in *--benchmark_filter=*c1*) ${deed} ;; esac
exec '${tools.benchmarkModule}' "$@"`,
    );
    const form = matmul(61, 67, 71);
    const subject = subjectOf(61, { workloadForm: form });
    const store = newStore();
    const effort = { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 };
    const job = jobOf(subject, { effort, budgetSeconds: 280, clock: realClock });
    const result = await tuneWith({ ...tools, benchmarkModule }, store, job);
    const [stock, first, second, ...others] = store.trials(subject);
    expect(second).toMatchObject({ outcome, message: expect.stringMatching(message) as string });
    expect([first, ...others].map((trial) => trial?.outcome)).toContain('measured');
    expect(stock).toMatchObject({ configuration: { kind: 'default' }, outcome: 'measured' });
    expect(result!.configuration).not.toEqual(second!.configuration);
  },
);
