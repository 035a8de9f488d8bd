// What is remembered of a server between processes. It lies in the cache folder and not in the database, whose every
// change makes all that is remembered of compiles stale. A folder that cannot be written remembers nothing.
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { NO_LOCK } from '../site/machine-lock.ts';
import { lockFile, type Lock } from '../site/measuring-lock.ts';
import { makeFolder } from '../system/folder.ts';
import { ASKING_LOCKS, BREAKERS, MISSING, pathIn } from '../system/cache.ts';
import { isObject } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { sha256 } from '../system/sha256.ts';
import { isBreaker, type Breaker } from './breaker.ts';
import { isMissing, type Missing } from './missing.ts';

interface Kept<T> {
  readonly identity: string;
  readonly value: T;
}

const isKept =
  <T>(isValue: (value: unknown) => value is T) =>
  (value: unknown): value is Kept<T> =>
    isObject(value) && typeof value['identity'] === 'string' && isValue(value['value']);

const breakers = memoryOf(BREAKERS, isKept(isBreaker), { outlivesBuild: true });
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

/** @param url of the server, password included: a right one is another one's successor, and no URL is in a file */
export function teamState(cacheDirectory: string, url: string): TeamState {
  const identity = sha256(url).slice(0, 32);
  const remove = (path: string) => {
    try {
      rmSync(path, { force: true });
    } catch {
      // It is somebody else's folder: then nothing was written there either.
    }
  };
  const removeBreaker = () => {
    remove(breakers.pathOf(cacheDirectory, identity));
  };
  return {
    breaker: () => breakers.recall(cacheDirectory, identity)?.value ?? null,
    setBreaker(breaker) {
      if (breaker === null) removeBreaker();
      else breakers.remember(cacheDirectory, { identity, value: breaker });
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
      removeBreaker();
      remove(missing.pathOf(cacheDirectory, identity));
    },
  };
}
