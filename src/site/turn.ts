// Waits for the measuring lock. Extra runs of the compiler wait for the CPU's lock, because they would disturb a measurement.
import { waitPatiently } from '../system/patience.ts';
import type { Measuring } from './measuring-lock.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { because } from '../system/reason.ts';

/** Why a build goes on without tuning after its wait. */
export const BUSY = because('lock-busy');

/**
 * Waits for the lock; null after the time limit, after the parent's end, or when `isWanted` becomes false.
 * @param seconds limit of the wait, which is shorter after many time-outs
 * @throws if the cache folder is not writable; an UnkillableError
 */
export async function takeTurn(
  measuring: Measuring,
  seconds: number,
  isWanted?: () => boolean,
): Promise<Disposable | null> {
  // Loaded on demand: a hit never gets here.
  const { acquireMeasuringLock } = await import('./measuring-lock.ts');
  return waitPatiently(
    measuring.cacheDirectory,
    seconds,
    (limit, signal) => acquireMeasuringLock(measuring, limit, signal),
    isWanted,
  );
}

/** Longest wait, in seconds, of a caller that can go on without the lock. */
export const PATIENCE_SECONDS = 10;

/**
 * Runs the work of a look-up, with the CPU's lock if it becomes free soon, else without: all workloads may have records, and a hit must not wait
 * for a long tuning. A build that may not tune does not wait.
 * @param isWanted whether the work is still needed, because another build may do it
 * @param work receives the seconds of waiting
 */
export async function inTurn<T>(
  surroundings: Surroundings,
  isWanted: () => boolean,
  work: (waitedSeconds: number) => Promise<T>,
): Promise<T> {
  if (!isWanted()) return work(0);
  const begun = performance.now();
  const { onMiss, readonly, budgetSeconds } = surroundings.settings;
  const seconds = onMiss === 'tune' && !readonly ? Math.min(PATIENCE_SECONDS, budgetSeconds) : 0;
  // An unwritable cache folder must not prevent the look-up.
  using _turn = await takeTurn(surroundings, seconds, isWanted).catch(() => null);
  return await work((performance.now() - begun) / 1000);
}
