// Whether a build may run its program.
import { expect, test } from 'vitest';
import { limitsWithin, whyNotRun } from '../../src/running/limits.ts';
import { memoryBytes } from '../../src/system/processor.ts';

test('a program runs if the memory has room for two compiles and the budget for the runs', () => {
  expect(whyNotRun({ isHuge: false }, 30)).toBeNull();
  expect(whyNotRun({ isHuge: true }, 30)).toMatchObject({ code: 'input-too-large' });
  expect(whyNotRun({ isHuge: false }, 5)).toMatchObject({ code: 'no-run-time' });
});

test('inputs may take a share of the memory, or what the user allows', () => {
  const most = (mostInput?: number) => limitsWithin({ budgetSeconds: 60, mostInput }, false);
  expect(most().inputBytes).toBe(memoryBytes() / 4);
  expect(most(2 ** 33)).toMatchObject({ inputBytes: 2 ** 33, allInputBytes: 2 ** 35 });
});
