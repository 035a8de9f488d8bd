// Candidates in processes of their own.
import { expect, test } from 'vitest';
import { checkedAlone } from '../../src/measure/alone.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from '../tuning/fake-tools.ts';

const NAMES = ['stock', 'c0', 'c1', 'c2'];
const checked = (runModule: string, limitSeconds?: number) =>
  checkedAlone(
    fakeTools(temporaryDirectory(), { runModule }),
    matmul(64, 64, 64),
    ['fillers.vmfb', 'batch.vmfb'],
    NAMES,
    limitSeconds,
  );

test('a candidate that crashes or has another result fails, and the others are right', async () => {
  const outcomes = await checked(`case "$*" in
    *--function=c0*) exit 1 ;;
    *--function=c1*) for argument; do case $argument in --output=@*) printf 87654321 >"\${argument#*@}" ;; esac; done; exit ;;
  esac`);
  expect([...outcomes.keys()]).toEqual(NAMES);
  expect([outcomes.get('stock'), outcomes.get('c2')]).toEqual([null, null]);
  expect(outcomes.get('c0')).toBe('it failed in a process of its own');
  expect(outcomes.get('c1')).not.toBe(null);
});

test('nothing is said about candidates for which no time was left', async () => {
  const outcomes = await checked('case "$*" in *--function=c1*) exec sleep 60 ;; esac', 3);
  expect(outcomes).toEqual(
    new Map([
      ['stock', null],
      ['c0', null],
    ]),
  );
});

test('without a default no candidate is right', async () => {
  const outcomes = await checked('exit 1');
  expect([...outcomes.values()]).toEqual(NAMES.map(() => 'the default does not run'));
});
