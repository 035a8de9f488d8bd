// The verdict that is noted after a variant of the command was tried.
import { expect, test } from 'vitest';
import type { FunctionVerdict, ProgramVerdict } from '../../../src/program/verdict.ts';
import { NOT_MEASURED } from '../../../src/program/runs.ts';
import { noteOf, type TriedCommand } from '../../../src/running/variants/try-command.ts';
import type { CommandVariant } from '../../../src/running/variants/variant.ts';

const variant = {
  parts: new Map([
    ['a', 'matmul'],
    ['b', 'reduction'],
  ]),
} as unknown as CommandVariant;

/** A function with this speed-up; null if it was not timed. */
const called = (ratio: number | null, equal = true): FunctionVerdict => ({
  ...{ name: 'main', equal, maxError: 0, compared: null, reason: equal ? null : 'it differs' },
  timing: ratio === null ? null : { ratio, low: ratio, high: ratio, seconds: [ratio, 1] },
});

const verdictOf = (functions: readonly FunctionVerdict[]): ProgramVerdict => ({
  ...{ functions, skipped: [], leftOut: [], injected: true, reason: null, code: null },
});

const tried = { keys: ['a', 'b'], program: null, isRefused: false, wrong: new Map(), compileSeconds: 1 };

/** @param ratio the smallest one; 0 if a function was not timed */
const noted = (ratio: number, functions: readonly FunctionVerdict[], more: Partial<TriedCommand> = {}) =>
  noteOf({ ...NOT_MEASURED, ...tried, ratio, verdict: verdictOf(functions), ...more }, variant, 60, null);

test.each([
  ['keeps nearly all of its speed', 0.99, [called(0.99), called(2)], 'better'],
  ['is slower in a call that only checks results', 2, [called(0.9), called(2)], 'better'],
  ['is slower in one function', 0.9, [called(0.9), called(2)], 'worse'],
  ['was not timed in one function', 0, [called(null), called(2)], 'open'],
  ['did not run', 0, [], 'open'],
  ['is wrong with several parts', 0, [called(null, false), called(2)], 'open'],
])('a program that %s', (_, ratio, functions, verdict) => {
  expect(noted(ratio, functions).verdict).toBe(verdict);
});

test('a single part with other results, and parts of which none can be used, are not tried again', () => {
  expect(noted(0, [called(null, false)], { keys: ['a'] })).toMatchObject({
    verdict: 'worse',
    reason: 'it differs',
  });
  expect(noted(0, [], { isRefused: true }).verdict).toBe('worse');
});

test('the parts that were left out are noted, and each try counts', () => {
  const first = noted(1.5, [called(1.5)], { keys: ['b'] });
  expect(first).toEqual({
    ...{ verdict: 'better', reason: '1.50x as fast as it is written', asWritten: ['a'] },
    ...{ budgetSeconds: 60, attempts: 1 },
  });
  const other = { ...NOT_MEASURED, ...tried, keys: ['a'], ratio: 0, verdict: verdictOf([]) };
  const again = noteOf(other, variant, 120, first);
  expect(again).toMatchObject({ verdict: 'open', asWritten: ['b'], budgetSeconds: 120, attempts: 2 });
});
