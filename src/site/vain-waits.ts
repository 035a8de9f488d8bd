// Counts seconds of vain waits for the measuring lock, by cache folder. Any user can hold the machine's lock for long, so builds limit the
// wait of a day.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathIn, VAIN_WAITS } from '../system/cache.ts';
import { isObject } from '../system/data.ts';

/** Limit of vain waits in a day, in seconds. */
export const MOST_VAIN_SECONDS = 600;

/** Wait of a build beyond the limit, in seconds. Most measurements are short. */
export const SHORT_SECONDS = 2;

const DAY_MS = 86_400_000;

/** The seconds that a build may wait, at most `seconds`. */
export const patienceOf = (cacheDirectory: string, seconds: number): number =>
  noted(cacheDirectory).seconds < MOST_VAIN_SECONDS ? seconds : Math.min(SHORT_SECONDS, seconds);

/** Adds a vain wait. Never throws: without a note the next build waits again. */
export function noteVainWait(cacheDirectory: string, seconds: number): void {
  const before = noted(cacheDirectory);
  const now = { ...before, seconds: before.seconds + seconds };
  try {
    writeFileSync(pathIn(cacheDirectory, VAIN_WAITS), JSON.stringify(now));
  } catch {
    // The cache folder is not writable.
  }
}

/** Waits of the current day, which begins with the first wait. */
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
