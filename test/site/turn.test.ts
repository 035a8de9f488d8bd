import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acquireMeasuringLock } from '../../src/site/measuring-lock.ts';
import { takeTurn } from '../../src/site/turn.ts';
import { MOST_VAIN_SECONDS, noteVainWait, patienceOf, SHORT_SECONDS } from '../../src/system/patience.ts';
import { temporaryDirectory } from '../support/folders.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => {
  vi.useRealTimers();
});

test('builds wait in vain for ten minutes a day, then only briefly', () => {
  vi.useFakeTimers();
  expect(patienceOf(folder, 60)).toBe(60);
  noteVainWait(folder, MOST_VAIN_SECONDS - 1);
  expect(patienceOf(folder, 60)).toBe(60);
  noteVainWait(folder, 1);
  expect(patienceOf(folder, 60)).toBe(SHORT_SECONDS);
  expect(patienceOf(folder, 0.5)).toBe(0.5);
  vi.advanceTimersByTime(86_400_000);
  expect(patienceOf(folder, 60)).toBe(60);
  noteVainWait(folder, 60);
  expect(patienceOf(folder, 60)).toBe(60);
});

test.each(['', '[]', '{"since":"yesterday","seconds":900}', '{"since":9e99,"seconds":900}'])(
  'a note that says %j counts as none',
  (text) => {
    writeFileSync(join(folder, 'vain-waits.json'), text);
    expect(patienceOf(folder, 60)).toBe(60);
  },
);

test('a failed write of the note is ignored', () => {
  noteVainWait(join(folder, 'missing'), 900);
  expect(patienceOf(join(folder, 'missing'), 60)).toBe(60);
});

test('only vain waits are noted', async () => {
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
