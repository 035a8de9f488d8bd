// One measurement at a time on one machine, across processes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';

/** Why a build whose wait was in vain goes on without tuning. */
export const BUSY = 'another process measured on this machine for the whole budget';

/** A held lock; it ends with the process at the latest, however that ends. */
export interface Lock {
  release(): void;
}

/**
 * Waits up to `timeoutSeconds` for the machine-wide measuring lock; null when somebody else kept it all that time.
 *
 * The lock is SQLite's own on a small file: the operating system frees it when the holder dies, so no stale lock can
 * ever block a build, which a lock file with a process id in it cannot promise.
 */
export async function acquireMeasuringLock(
  cacheDirectory: string,
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  mkdirSync(cacheDirectory, { recursive: true });
  const database = new Database(join(cacheDirectory, 'measuring.lock'), { timeout: 0 });
  const end = performance.now() + timeoutSeconds * 1000;
  for (;;) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return {
        release() {
          database.exec('ROLLBACK');
          database.close();
        },
      };
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      if (!isBusy || performance.now() >= end || signal?.aborted === true) {
        database.close();
        if (isBusy) return null;
        throw error;
      }
    }
    // Many that wait must not disturb the one that measures, nor ask all at once.
    await sleep(50 + 200 * Math.random(), undefined, signal && { signal }).catch(() => undefined);
  }
}
