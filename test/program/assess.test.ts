import { expect, test } from 'vitest';
import { assess, gainBeside, judgementWith, type Assessed } from '../../src/program/assess.ts';
import type { ProgramsRun } from '../../src/program/runs.ts';
import { because, type Reason } from '../../src/system/reason.ts';

/** A program whose functions are so many times faster than stock, give or take a tenth; null where they were not timed. */
const program = (ratios: readonly (number | null)[], open: Reason | null = null): Assessed => ({
  judgement: { kept: ['a'], leftOut: [], open },
  functions: ratios.map((ratio, i) => ({
    ...{ name: `f${i}`, equal: true, maxError: 0, reason: null },
    timing: ratio === null ? null : { ratio, low: ratio * 0.9, high: ratio * 1.1, seconds: [ratio, 1] },
  })),
  workloads: [],
  dispatchSeconds: new Map(),
});
const nothing: Assessed = {
  judgement: { kept: [], leftOut: [], open: null },
  functions: [],
  workloads: [],
  dispatchSeconds: new Map(),
};

test.each([
  ['alone', program([2]), nothing, 2],
  ['over all functions', program([4, 1.2]), nothing, Math.sqrt(4.8)],
  ['and faster than the other', program([3]), program([2]), 3],
  ['though the other is not known', program([3]), program([null], because('no-time')), 3],
])('a program is better: %s', (_, one, other, gain) => {
  expect(gainBeside(one, other)).toBeCloseTo(gain, 9);
});

test.each([
  ['that is hardly faster than the other', program([2.05]), program([2])],
  ['that may be no faster than stock', program([1.1]), nothing],
  ['of which one function may be slower', program([3, 1]), nothing],
  ['of which one function was not timed', program([3, null]), nothing],
  ['that is not known to be right', program([3], because('results-unknown', 'stock cannot be run')), nothing],
  ['in which nothing is kept', nothing, nothing],
])('none is %s', (_, one, other) => {
  expect(gainBeside(one, other)).toBeNull();
});

test('without configurations nothing is run', async () => {
  expect(await assess([], {} as ProgramsRun)).toEqual(nothing);
});

test('a program that is better with what was offered is the one that was run', () => {
  const out = (key: string) => ({
    key,
    reason: `worse with ${key}`,
    mark: { kind: 'slower' as const, reason: 'in a program' },
  });
  // Without the offer to c and d, neither a nor c did any good; with it, a does no harm, and what d was offered does.
  const own = { kept: ['b', 'd'], leftOut: [out('a'), out('c')], open: because('no-time') };
  const wide = { kept: ['a', 'b', 'c'], leftOut: [out('d')], open: null };
  expect(judgementWith(new Set(['c', 'd']), wide, own)).toEqual({
    kept: ['a', 'b', 'c'],
    leftOut: [out('c'), { ...out('d'), mark: null }],
    open: null,
  });
});
