import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isWorthAnotherTry, whyUndecided } from '../../src/tuning/undecided.ts';
import { temporaryDirectory } from '../support/folders.ts';

const undecided = (lastTriedAt: Date, budgetSeconds = 20) => ({
  workload: 'w',
  reason: 'the default is too slow',
  budgetSeconds,
  attempts: 1,
  lastTriedAt: lastTriedAt.toISOString(),
});

test('an undecided workload is worth another try with a quarter more time', () => {
  const before = undecided(new Date());
  for (const seconds of [0, 10, 20, 22]) expect(isWorthAnotherTry(before, seconds, [])).toBe(false);
  for (const seconds of [30, 60]) expect(isWorthAnotherTry(before, seconds, [])).toBe(true);
});

test('a default that did not run is worth another try with tools that were installed later', () => {
  const tool = join(temporaryDirectory(), 'iree-benchmark-module');
  writeFileSync(tool, '');
  const [later, earlier] = [60_000, -60_000].map((ms) => undecided(new Date(Date.now() + ms)));
  const reason = 'the default does not run: exit code 1';
  expect(isWorthAnotherTry({ ...later!, reason }, 20, [tool])).toBe(false);
  expect(isWorthAnotherTry({ ...earlier!, reason }, 20, [tool])).toBe(true);
  expect(isWorthAnotherTry(earlier!, 20, [tool])).toBe(false);
});

test('the message names the time that allows another try', () => {
  expect(whyUndecided(undecided(new Date(), 12))).toBe(
    'cannot be decided: the default is too slow. It was given 12 s; a budget that leaves it more than 15 s, ' +
      'or iree-tuned tune, tries again',
  );
});
