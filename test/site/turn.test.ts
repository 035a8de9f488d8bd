import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { takeTurn } from '../../src/site/turn.ts';
import {
  MOST_TIMED_OUT_SECONDS,
  noteTimeout,
  longestWait,
  SHORT_SECONDS,
} from '../../src/system/patience.ts';
import { temporaryDirectory } from '../support/folders.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the time-outs of a day take ten minutes, then only briefly', () => {
  vi.useFakeTimers();
  expect(longestWait(folder, 60)).toBe(60);
  noteTimeout(folder, MOST_TIMED_OUT_SECONDS - 1);
  expect(longestWait(folder, 60)).toBe(60);
  noteTimeout(folder, 1);
  expect(longestWait(folder, 60)).toBe(SHORT_SECONDS);
  expect(longestWait(folder, 0.5)).toBe(0.5);
  vi.advanceTimersByTime(86_400_000);
  expect(longestWait(folder, 60)).toBe(60);
  noteTimeout(folder, 60);
  expect(longestWait(folder, 60)).toBe(60);
});

test.each(['', '[]', '{"since":"yesterday","seconds":900}', '{"since":9e99,"seconds":900}'])(
  'a note that says %j counts as none',
  (text) => {
    writeFileSync(join(folder, 'vain-waits.json'), text);
    expect(longestWait(folder, 60)).toBe(60);
  },
);

test('a failed write of the note is ignored', () => {
  noteTimeout(join(folder, 'missing'), 900);
  expect(longestWait(join(folder, 'missing'), 60)).toBe(60);
});

test('only waits that time out are noted', async () => {
  const place = { cacheDirectory: folder, env: { IREE_TUNED_MACHINE: folder } };
  const isNoted = () => existsSync(join(folder, 'vain-waits.json'));
  const held = await acquireMeasuringLock(place, 0);
  expect(await takeTurn(place, 60, () => false)).toBeNull();
  expect(isNoted()).toBe(false);
  expect(await takeTurn(place, 0.01)).toBeNull();
  expect(isNoted()).toBe(true);
  held!.release();
  const turn = await takeTurn(place, 60);
  expect(turn).not.toBeNull();
  turn![Symbol.dispose]();
});
