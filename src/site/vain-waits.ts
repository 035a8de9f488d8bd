// Seconds that builds with one cache folder have waited in vain for their turn to measure. Any user of a machine can hold its lock for as long
// as he likes, so builds wait only so long a day.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathIn, VAIN_WAITS } from '../system/cache.ts';
import { isObject } from '../system/data.ts';

/** Most seconds of waiting in vain a day. */
export const MOST_VAIN_SECONDS = 600;

/** After that a build still waits so many seconds, since most turns are short. */
export const SHORT_SECONDS = 2;

const DAY_MS = 86_400_000;

/** @returns the seconds that a build waits for its turn, of those that it would like to */
export const patienceOf = (cacheDirectory: string, seconds: number): number =>
  noted(cacheDirectory).seconds < MOST_VAIN_SECONDS ? seconds : Math.min(SHORT_SECONDS, seconds);

/** Never throws: if it cannot be written, the next build waits again. */
export function noteVainWait(cacheDirectory: string, seconds: number): void {
  const before = noted(cacheDirectory);
  const now = { ...before, seconds: before.seconds + seconds };
  try {
    writeFileSync(pathIn(cacheDirectory, VAIN_WAITS), JSON.stringify(now));
  } catch {
    // The cache folder cannot be written.
  }
}

/** The waits of the last day; a new day begins with the first wait after it. */
function noted(cacheDirectory: string): { readonly since: number; readonly seconds: number } {
  const none = { since: Date.now(), seconds: 0 };
  try {
    const note: unknown = JSON.parse(readFileSync(pathIn(cacheDirectory, VAIN_WAITS), 'utf8'));
    if (!isObject(note)) return none;
    const { since, seconds } = note;
    if (typeof since !== 'number' || typeof seconds !== 'number') return none;
    return Math.abs(Date.now() - since) < DAY_MS ? { since, seconds } : none;
  } catch {
    return none;
  }
}
