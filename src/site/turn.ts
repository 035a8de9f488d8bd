// Who wants to ask the compiler for more than the user did waits until nobody measures: the compiler would disturb that.
import { whenOrphaned } from '../system/parent.ts';
import type { Settings } from '../settings/index.ts';
import type { Lock } from './measuring-lock.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/** Why a build whose wait was in vain goes on without tuning. */
export const BUSY = 'another process measured on this machine for the whole budget';

/** How often is looked whether a turn is still wanted, in milliseconds. */
const INTERVAL = 100;

/**
 * Waits for a turn; null when somebody measured for all of `seconds`, when the caller has gone, or when it is not wanted
 * any more.
 * @throws when nothing can be written to the cache folder
 */
export async function takeTurn(
  surroundings: Surroundings,
  seconds: number,
  isWanted: () => boolean = () => true,
): Promise<Lock | null> {
  // Nothing of this is loaded on a hit.
  const { acquireMeasuringLock } = await import('./measuring-lock.ts');
  const enough = new AbortController();
  const stop = () => {
    enough.abort();
  };
  const stopWatching = whenOrphaned(stop);
  const timer = setInterval(() => {
    if (!isWanted()) stop();
  }, INTERVAL);
  try {
    return await acquireMeasuringLock(surroundings, seconds, enough.signal);
  } finally {
    clearInterval(timer);
    stopWatching();
  }
}

/** Most seconds that is waited for a turn by whoever can do without. */
export const PATIENCE_SECONDS = 10;

/**
 * Does what a lookup needs, in a turn where one comes soon, else without: there may be records for everything, and a hit
 * does not wait for somebody who tunes for an hour. The compile that follows disturbs him more. Who gives no time for
 * tuning does not wait at all.
 * @param isWanted whether it is still to be done: another build may do it meanwhile
 * @param work is told the seconds that were waited
 */
export async function inTurn<T>(
  surroundings: Surroundings,
  isWanted: () => boolean,
  work: (waitedSeconds: number) => Promise<T>,
): Promise<T> {
  if (!isWanted()) return work(0);
  const begun = performance.now();
  const seconds = mayTune(surroundings.settings)
    ? Math.min(PATIENCE_SECONDS, surroundings.settings.budgetSeconds)
    : 0;
  // A cache folder that cannot be written is no reason not to look up.
  const turn = await takeTurn(surroundings, seconds, isWanted).catch(() => null);
  try {
    return await work((performance.now() - begun) / 1000);
  } finally {
    turn?.release();
  }
}

const mayTune = ({ onMiss, readonly }: Settings): boolean => onMiss === 'tune' && !readonly;
