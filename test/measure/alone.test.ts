// Candidates in processes of their own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkedAlone, referenceAlone, verifyCandidates } from '../../src/measure/verify-candidates.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from '../tuning/fake-tools.ts';

const RIGHT = { outcome: 'right', maxError: 0 };
const NAMES = ['c0', 'c1', 'c2'];
const MODULES = ['fillers.vmfb', 'batch.vmfb'];
const SHAPE = matmul(64, 64, 64);

async function checked(runModule: string, limitSeconds?: number) {
  const tools = fakeTools(temporaryDirectory(), { runModule });
  const reference = await referenceAlone(tools, SHAPE, MODULES, 'stock');
  return reference && checkedAlone(tools, SHAPE, MODULES, NAMES, reference, limitSeconds);
}

test('a candidate that crashes or has another result fails, and the others are right', async () => {
  const outcomes = await checked(`case "$*" in
    *--function=c0*) exit 1 ;;
    *--function=c1*) for argument; do case $argument in --output=@*) printf 87654321 >"\${argument#*@}" ;; esac; done; exit ;;
  esac`);
  expect([...outcomes!]).toEqual([
    ['c0', { outcome: 'run-error', reason: 'it failed in a process of its own' }],
    [
      'c1',
      { outcome: 'wrong-result', reason: expect.stringMatching(/^element 0 is .* instead of/) as string },
    ],
    ['c2', RIGHT],
  ]);
});

test('candidates without time left have no verdict', async () => {
  const outcomes = await checked('case "$*" in *--function=c1*) exec sleep 60 ;; esac', 3);
  expect(outcomes).toEqual(new Map([['c0', RIGHT]]));
});

test('without a default there is no verdict', async () => {
  expect(await checked('exit 1')).toBeNull();
});

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
