import { expect, test } from 'vitest';
import { assess, gainOver, judgementWith, type Assessed } from '../../src/program/assess.ts';
import { NOT_MEASURED, type ProgramsRun } from '../../src/program/runs.ts';
import { because, type Reason } from '../../src/system/reason.ts';

/** A program with these speed-ups of its functions, within 10%; null for a function without a time. */
const program = (ratios: readonly (number | null)[], open: Reason | null = null): Assessed => ({
  ...NOT_MEASURED,
  judgement: { kept: ['a'], leftOut: [], open },
  functions: ratios.map((ratio, i) => ({
    ...{ name: `f${i}`, equal: true, maxError: 0, compared: null, reason: null },
    timing: ratio === null ? null : { ratio, low: ratio * 0.9, high: ratio * 1.1, seconds: [ratio, 1] },
  })),
});
const nothing: Assessed = { ...NOT_MEASURED, judgement: { kept: [], leftOut: [], open: null } };

test.each([
  ['one function', program([2]), nothing, 2],
  ['the mean of all functions', program([4, 1.2]), nothing, Math.sqrt(4.8)],
  ['faster than the other program', program([3]), program([2]), 3],
  ['the other program has no times', program([3]), program([null], because('no-time')), 3],
])('the gain of a faster program: %s', (_, one, other, gain) => {
  expect(gainOver(one, other)).toBeCloseTo(gain, 9);
});

test.each([
  ['is hardly faster than the other', program([2.05]), program([2])],
  ['may be no faster than stock', program([1.1]), nothing],
  ['has a function that may be slower', program([3, 1]), nothing],
  ['has a function without a time', program([3, null]), nothing],
  ['has unknown results', program([3], because('results-unknown', 'stock cannot be run')), nothing],
  ['keeps no configuration', nothing, nothing],
])('there is no gain if the program %s', (_, one, other) => {
  expect(gainOver(one, other)).toBeNull();
});

test('without configurations, nothing runs', async () => {
  expect(await assess([], {} as ProgramsRun)).toEqual(nothing);
});

test('the judgement of a faster program-wide configuration is that of the measured program', () => {
  const out = (key: string) => ({
    key,
    reason: `worse with ${key}`,
    mark: { kind: 'slower' as const, reason: 'in a program' },
  });
  // With their own configurations, a and c are slower. With the program-wide configuration of c and d, only d is slower.
  const own = { kept: ['b', 'd'], leftOut: [out('a'), out('c')], open: because('no-time') };
  const wide = { kept: ['a', 'b', 'c'], leftOut: [out('d')], open: null };
  expect(judgementWith(new Set(['c', 'd']), wide, own)).toEqual({
    kept: ['a', 'b', 'c'],
    leftOut: [out('c'), { ...out('d'), mark: null }],
    open: null,
  });
});
