// Waits for locks that other processes hold. Any user can hold the machine's locks for long, so builds limit the time-outs of a day,
// counted by cache folder.
import { writeFileSync } from 'node:fs';
import { LOCK_TIMEOUTS, pathIn } from './cache.ts';
import { hasFields, isNumber } from './data.ts';
import { readJson } from './files.ts';
import type { Lock } from './machine-lock.ts';
import { whenOrphaned } from './parent.ts';
import { resultOr } from './result-or.ts';

/** Interval in milliseconds at which `isWanted` is called. */
const INTERVAL = 100;

/**
 * Waits for a lock; null after the time limit, after the parent's end, or when `isWanted` becomes false.
 * @param seconds limit of the wait, which is shorter after many time-outs
 * @param acquire waits for the lock for some seconds, or until the signal
 */
export async function waitPatiently(
  cacheDirectory: string,
  seconds: number,
  acquire: (seconds: number, signal: AbortSignal) => Promise<Lock | null>,
  isWanted: () => boolean = () => true,
): Promise<Lock | null> {
  const limit = longestWait(cacheDirectory, seconds);
  const enough = new AbortController();
  const stop = () => {
    enough.abort();
  };
  const stopWatching = whenOrphaned(stop);
  const timer = setInterval(() => {
    if (!isWanted()) stop();
  }, INTERVAL);
  try {
    const lock = await acquire(limit, enough.signal);
    if (lock === null && !enough.signal.aborted) noteTimeout(cacheDirectory, limit);
    return lock;
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

/** Limit of the waits in a day that time out, in seconds together. */
export const MOST_TIMED_OUT_SECONDS = 600;

/** Wait of a build beyond the limit, in seconds. Most measurements are short. */
export const SHORT_SECONDS = 2;

const DAY_MS = 86_400_000;

export const longestWait = (cacheDirectory: string, seconds: number): number =>
  noted(cacheDirectory).seconds < MOST_TIMED_OUT_SECONDS ? seconds : Math.min(SHORT_SECONDS, seconds);

/** Adds a wait that timed out. Never throws: without a note the next build waits again. */
export function noteTimeout(cacheDirectory: string, seconds: number): void {
  const before = noted(cacheDirectory);
  const now: Timeouts = { ...before, seconds: before.seconds + seconds };
  resultOr(() => {
    writeFileSync(pathIn(cacheDirectory, LOCK_TIMEOUTS), JSON.stringify(now));
  }, undefined);
}

/** Waits of a day that timed out. The day begins with the first of them. */
interface Timeouts {
  /** In milliseconds. */
  readonly since: number;
  readonly seconds: number;
}

const isTimeouts = hasFields<Timeouts>({ since: isNumber, seconds: isNumber });

function noted(cacheDirectory: string): Timeouts {
  const note = readJson(pathIn(cacheDirectory, LOCK_TIMEOUTS));
  const isToday = isTimeouts(note) && Math.abs(Date.now() - note.since) < DAY_MS;
  return isToday ? note : { since: Date.now(), seconds: 0 };
}
