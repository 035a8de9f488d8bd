// What is remembered between processes of a team's server: that it failed, and what it did not know. It lies in the cache
// folder and not in the database, whose every change makes all that is remembered of compiles stale. A folder that cannot be
// written remembers nothing. Apart from all that asks one, so that a build looks here before it loads that.
import { rmSync } from 'node:fs';
import { withoutPassword } from '../settings/address.ts';
import { BREAKERS, MISSING } from '../system/cache.ts';
import { isObject } from '../system/data.ts';
import { shortHash } from '../system/hash.ts';
import { memoryOf, type Memory } from '../system/memory.ts';
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

/**
 * Of the password there are 16 bits in it: enough to notice that there is another one, and nothing to guess it by.
 * @param url of the server, password included
 */
export const serverIdentity = (url: string): string =>
  `${shortHash(withoutPassword(url))}-${shortHash(url).slice(0, 4)}`;

export interface ServerMemory {
  breaker(): Breaker | null;
  /** @param breaker null forgets that it ever failed */
  setBreaker(breaker: Breaker | null): void;
  missing(): Missing;
  setMissing(missing: Missing): void;
  /** As if it had never been asked. */
  forget(): void;
}

/** @param url of the server, password included: a right one is another one's successor */
export function serverMemory(cacheDirectory: string, url: string): ServerMemory {
  const identity = serverIdentity(url);
  const remove = (memory: Pick<Memory<Kept<never>>, 'pathOf'>) => {
    try {
      rmSync(memory.pathOf(cacheDirectory, identity), { force: true });
    } catch {
      // It is somebody else's folder: then nothing was written there either.
    }
  };
  return {
    breaker: () => breakers.recall(cacheDirectory, identity)?.value ?? null,
    setBreaker(breaker) {
      if (breaker === null) remove(breakers);
      else breakers.remember(cacheDirectory, { identity, value: breaker });
    },
    missing: () => missing.recall(cacheDirectory, identity)?.value ?? {},
    setMissing(value) {
      missing.remember(cacheDirectory, { identity, value });
    },
    forget() {
      remove(breakers);
      remove(missing);
    },
  };
}
