// Waits for locks that other processes hold. Any user can hold the machine's locks for long, so builds limit the vain waits of a day, counted
// by cache folder.
import { writeFileSync } from 'node:fs';
import { pathIn, VAIN_WAITS } from './cache.ts';
import { hasFields, isNumber } from './data.ts';
import { readJson } from './files.ts';
import type { Lock } from './machine-lock.ts';
import { whenOrphaned } from './parent.ts';
import { resultOr } from './result-or.ts';

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
): Promise<Lock | null> {
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
  const now: VainWaits = { ...before, seconds: before.seconds + seconds };
  resultOr(() => {
    writeFileSync(pathIn(cacheDirectory, VAIN_WAITS), JSON.stringify(now));
  }, undefined);
}

/** Vain waits of a day, which begins with the first wait. */
interface VainWaits {
  /** In milliseconds. */
  readonly since: number;
  readonly seconds: number;
}

const isVainWaits = hasFields<VainWaits>({ since: isNumber, seconds: isNumber });

function noted(cacheDirectory: string): VainWaits {
  const note = readJson(pathIn(cacheDirectory, VAIN_WAITS));
  const isToday = isVainWaits(note) && Math.abs(Date.now() - note.since) < DAY_MS;
  return isToday ? note : { since: Date.now(), seconds: 0 };
}
