// The number of compilers that run at once is limited over all searches.
// In full after a change of src/tuning.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tuneWorkloads, type Work } from '../../src/tuning/tune-workloads.ts';
import { open, temporaryPath } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { keyOfMatmul, siteOf, surroundingsOf } from '../support/inspected.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';
import { casesOfTier } from '../support/needs.ts';

/** Most compilers that ran at once, by the lines of their begins and ends. */
function mostAtOnce(log: string): number {
  let [running, most] = [0, 0];
  for (const line of log.trim().split('\n')) {
    running += line === 'begin' ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}

test.each(casesOfTier([2, 1], 1))('%i at once', async (compilesAtOnce) => {
  const folder = temporaryDirectory();
  const log = join(folder, 'log');
  const tools = fakeTools(folder, {
    compiler: `echo begin >>'${log}'; trap "echo end >>'${log}'" EXIT; sleep 0.05`,
  });
  const works = [61, 62].map((m): Work => {
    return { key: keyOfMatmul(m, 67, 71), workload: matmul(m, 67, 71), count: 1, options: SPACE };
  });
  const site = siteOf({ executable: tools.compiler, device: tools.device });
  const { results } = await tuneWorkloads(works, open(temporaryPath()), site, tools, surroundingsOf(), {
    budgetSeconds: 60,
    givenSeconds: 60,
    signal: new AbortController().signal,
    effort: { trialsPerBatch: 2, maxTrials: 2, patience: 1, finalists: 1 },
    compilesAtOnce,
  });
  expect(results.size).toBe(2);
  expect(mostAtOnce(readFileSync(log, 'utf8'))).toBe(compilesAtOnce);
});
