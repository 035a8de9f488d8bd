// Calls of a worker to the server, which it repeats until the server answers.
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerError } from './database.ts';

/** Pause between two attempts to reach the server, in milliseconds. */
const PAUSE_MS = 1000;

/** The worker stopped waiting for a server that did not answer. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
}

export type Retry = <T>(action: () => Promise<T>) => Promise<T>;

/**
 * Repeats an action while the server is unreachable. Rejects with any other error at once, and with `GivenUpError` after `giveUp`
 * aborts or `isWorthWaiting` becomes false.
 */
export function retryUntilReachable(
  giveUp: AbortSignal,
  isWorthWaiting: () => boolean,
  say: (line: string) => void,
): Retry {
  let isAway = false;
  return async (action) => {
    for (;;) {
      try {
        const value = await action();
        if (isAway) say('the server answers again');
        isAway = false;
        return value;
      } catch (error) {
        if (!(error instanceof ServerError) || error.failure.kind !== 'unreachable') throw error;
        if (giveUp.aborted || !isWorthWaiting()) throw new GivenUpError(error.message);
        if (!isAway) say(error.message);
        isAway = true;
        await sleep(PAUSE_MS, undefined, { signal: giveUp }).catch(() => undefined);
      }
    }
  };
}
