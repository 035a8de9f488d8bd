// Waits for locks that other processes hold. Any user can hold the machine's locks for long, so builds limit the vain waits of a day, counted
// by cache folder.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathIn, VAIN_WAITS } from './cache.ts';
import { isObject } from './data.ts';
import type { Lock } from './machine-lock.ts';
import { whenOrphaned } from './parent.ts';

/** Interval in milliseconds at which `isWanted` is called. */
const INTERVAL = 100;

/**
 * Waits for a lock; null after the time limit, after the parent's end, or when `isWanted` becomes false.
 * @param seconds limit of the wait, which is shorter after many vain waits
 * @param acquire waits for the lock for some seconds, or until the signal
 */
export async function waitPatiently(
  cacheDirectory: string,
  seconds: number,
  acquire: (seconds: number, signal: AbortSignal) => Promise<Lock | null>,
  isWanted: () => boolean = () => true,
): Promise<Disposable | null> {
  const patience = patienceOf(cacheDirectory, seconds);
  const enough = new AbortController();
  const stop = () => {
    enough.abort();
  };
  const stopWatching = whenOrphaned(stop);
  const timer = setInterval(() => {
    if (!isWanted()) stop();
  }, INTERVAL);
  try {
    const lock = await acquire(patience, enough.signal);
    if (lock === null && !enough.signal.aborted) noteVainWait(cacheDirectory, patience);
    return lock && { [Symbol.dispose]: lock.release };
  } finally {
    clearInterval(timer);
    stopWatching();
  }
}

/** Repeats an attempt until it succeeds, for some seconds, or until the signal. Tries at least once. */
export async function retry(
  lock: () => Lock | null | Promise<Lock | null>,
  seconds: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  const end = performance.now() + seconds * 1000;
  // Loaded on demand: a hit waits for nothing.
  const { setTimeout: sleep } = process.getBuiltinModule('node:timers/promises');
  for (;;) {
    const held = await lock();
    if (held !== null || performance.now() >= end || signal?.aborted === true) return held;
    // Spread the attempts, so that waiting processes disturb a measurement little.
    await sleep(50 + 200 * Math.random(), undefined, signal && { signal }).catch(() => undefined);
  }
}

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
