// Who wants to ask the compiler for more than the user did waits until nobody measures: the compiler would disturb that.
import { whenOrphaned } from '../system/parent.ts';
import type { Settings } from '../settings/index.ts';
import type { Lock } from './measuring-lock.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { because } from '../system/reason.ts';

/** Why a build whose wait was in vain goes on without tuning. */
export const BUSY = because('lock-busy');

/** Milliseconds between two looks whether a turn is still wanted. */
const INTERVAL = 100;

/**
 * Waits for a turn. Null if somebody else measured all that time, if the caller has gone, or if the turn is not wanted any more.
 * @param seconds of waiting at most, and fewer after many waits in vain
 * @throws when nothing can be written to the cache folder
 */
export async function takeTurn(
  surroundings: Pick<Surroundings, 'cacheDirectory' | 'env'>,
  seconds: number,
  isWanted: () => boolean = () => true,
): Promise<Lock | null> {
  // Nothing of this is loaded on a hit.
  const { acquireMeasuringLock } = await import('./measuring-lock.ts');
  const { noteVainWait, patienceOf } = await import('./vain-waits.ts');
  const { cacheDirectory } = surroundings;
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
    const turn = await acquireMeasuringLock(surroundings, patience, enough.signal);
    if (turn === null && !enough.signal.aborted) noteVainWait(cacheDirectory, patience);
    return turn;
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
