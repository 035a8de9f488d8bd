// One measurement at a time, across processes.
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { makeFolder } from '../system/folder.ts';
import { MEASURING_LOCK, pathIn } from '../system/cache.ts';
import { networkOf } from '../system/file-system.ts';
import { lockMachine, NO_LOCK } from './machine-lock.ts';

/** A held lock; it ends with the process at the latest, however that ends. */
export interface Lock {
  release(): void;
}

/**
 * Waits up to `timeoutSeconds` until nobody else measures; null when somebody did all that time, or at the signal.
 *
 * Two locks are held: the machine's, and one of the cache folder, which also keeps those apart that share a folder but not
 * the machine's lock, as containers do. The system frees both when the holder dies, so no stale lock can
 * ever block a build, which a lock file with a process id in it cannot promise. A cache folder on a network disk is not
 * locked: other machines would be kept waiting, who do not disturb this one, or the lock would fail.
 * @throws when nothing can be written to the cache folder
 */
export async function acquireMeasuringLock(
  {
    cacheDirectory,
    env,
  }: { readonly cacheDirectory: string; readonly env: Readonly<Record<string, string | undefined>> },
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  makeFolder(cacheDirectory, 0o700);
  const end = performance.now() + timeoutSeconds * 1000;
  const isShared = networkOf(cacheDirectory) !== null;
  const cache = isShared
    ? NO_LOCK
    : await retry(() => lockFile(pathIn(cacheDirectory, MEASURING_LOCK)), end, signal);
  if (cache === null) return null;
  const machine = await retry(() => lockMachine(env), end, signal);
  if (machine === null) {
    cache.release();
    return null;
  }
  return {
    release() {
      machine.release();
      cache.release();
    },
  };
}

/** Tries at least once. */
async function retry(
  lock: () => Lock | null | Promise<Lock | null>,
  end: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  for (;;) {
    const held = await lock();
    if (held !== null || performance.now() >= end || signal?.aborted === true) return held;
    // Many that wait must not disturb the one that measures, nor ask all at once.
    await sleep(50 + 200 * Math.random(), undefined, signal && { signal }).catch(() => undefined);
  }
}

/** SQLite's own lock on a small file; null when somebody holds it. Throws where the file cannot be written. */
export function lockFile(path: string): Lock | null {
  const database = new Database(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return null;
    throw error;
  }
  return {
    release() {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}
