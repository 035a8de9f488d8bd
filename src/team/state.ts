// What is remembered of a server between processes. It lies in the cache folder and not in the database, whose every
// change makes all that is remembered of compiles stale. A folder that cannot be written remembers nothing.
import { dirname } from 'node:path';
import { NO_LOCK } from '../site/machine-lock.ts';
import { lockFile, type Lock } from '../site/measuring-lock.ts';
import { makeFolder } from '../system/folder.ts';
import { ASKING_LOCKS, MISSING, pathIn } from '../system/cache.ts';
import { memoryOf } from '../system/memory.ts';
import type { Breaker } from './breaker.ts';
import { isKept, recallBreaker, rememberBreaker, removeQuietly, serverIdentity } from './breaker-memory.ts';
import { isMissing, type Missing } from './missing.ts';

const missing = memoryOf(MISSING, isKept(isMissing), { outlivesBuild: true });

export interface TeamState {
  breaker(): Breaker | null;
  /** Null forgets that it ever failed. */
  setBreaker(breaker: Breaker | null): void;
  missing(): Missing;
  setMissing(missing: Missing): void;
  /** Tries once to be the only one that asks, of all processes with this cache folder; null when somebody is. */
  lock(): Lock | null;
  /** As if nobody had asked yet. */
  forget(): void;
}

/** @param url of the server, password included */
export function teamState(cacheDirectory: string, url: string): TeamState {
  const identity = serverIdentity(url);
  return {
    breaker: () => recallBreaker(cacheDirectory, identity),
    setBreaker(breaker) {
      rememberBreaker(cacheDirectory, identity, breaker);
    },
    missing: () => missing.recall(cacheDirectory, identity)?.value ?? {},
    setMissing(value) {
      missing.remember(cacheDirectory, { identity, value });
    },
    lock() {
      const path = pathIn(cacheDirectory, ASKING_LOCKS, identity);
      try {
        makeFolder(dirname(path), 0o700);
        return lockFile(path);
      } catch {
        return NO_LOCK;
      }
    },
    forget() {
      rememberBreaker(cacheDirectory, identity, null);
      removeQuietly(missing.pathOf(cacheDirectory, identity));
    },
  };
}
