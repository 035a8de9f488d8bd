// Whether a build may run its program.
import { expect, test } from 'vitest';
import { whyNotRun } from '../../src/running/limits.ts';

test('a program runs if the memory has room for two compiles and the budget for the runs', () => {
  expect(whyNotRun({ isHuge: false }, 30)).toBeNull();
  expect(whyNotRun({ isHuge: true }, 30)).toMatchObject({ code: 'input-too-large' });
  expect(whyNotRun({ isHuge: false }, 5)).toMatchObject({ code: 'no-run-time' });
});
