import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyCandidates } from '../../src/measure/verify-candidates.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from '../tuning/fake-tools.ts';

test('processes with large operands run one at a time, those of other workloads included', async () => {
  const folder = temporaryDirectory();
  const log = join(folder, 'log');
  const tools = fakeTools(folder, {
    runModule: `echo begin >>${log}; sleep 0.05`,
    afterRun: `echo end >>${log}`,
  });
  const build = { module: join(folder, 'module.vmfb'), built: [], refused: new Map<string, string>() };
  // 1 GiB of weights each.
  const workloads = [matmul(8, 16384, 16384), matmul(16, 16384, 16384)];
  const verified = await Promise.all(
    workloads.map((workload) => verifyCandidates(tools, workload, build, 'stock', ['c0'], 60)),
  );
  expect(verified.map((one) => one!.get('c0')!.outcome)).toEqual(['right', 'right']);
  const runs = readFileSync(log, 'utf8').trim().split('\n');
  expect(runs.length).toBeGreaterThanOrEqual(8);
  expect(runs).toEqual(runs.map((_, i) => (i % 2 === 0 ? 'begin' : 'end')));
});
