// Remembers failures and misses of a team's server between processes. The cache folder holds them, because a write to the database
// makes all cached compiles stale. This file loads no driver, so a build can read the memory cheaply.
import { rmSync } from 'node:fs';
import { withoutPassword } from '../settings/address.ts';
import { attempt } from '../system/attempt.ts';
import { BREAKERS, MISSING } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { shortHash } from '../system/hash.ts';
import { memoryOf, type Memory } from '../system/memory.ts';
import { isBreaker, type Breaker } from './breaker.ts';
import { isMissing, type Missing } from './missing.ts';

interface Kept<T> {
  readonly identity: string;
  readonly value: T;
}

const isKept = <T>(isValue: (value: unknown) => value is T) =>
  hasFields<Kept<T>>({ identity: isText, value: isValue });

const breakers = memoryOf(BREAKERS, isKept(isBreaker), { outlivesBuild: true });
const missing = memoryOf(MISSING, isKept(isMissing), { outlivesBuild: true });

/**
 * Key of a server's memory. It has 16 bits of a digest of the password: enough to notice a new password, too few to guess it.
 * @param url with the password
 */
export const serverIdentity = (url: string): string =>
  `${shortHash(withoutPassword(url))}-${shortHash(url).slice(0, 4)}`;

export interface ServerMemory {
  breaker(): Breaker | null;
  /** @param breaker null after an answer */
  setBreaker(breaker: Breaker | null): void;
  missing(): Missing;
  setMissing(missing: Missing): void;
  /** Forgets failures and misses. */
  forget(): void;
}

/** @param url with the password: a corrected password starts without failures */
export function serverMemory(cacheDirectory: string, url: string): ServerMemory {
  const identity = serverIdentity(url);
  const remove = (memory: Pick<Memory<Kept<never>>, 'pathOf'>) => {
    // Nothing was written to a folder of another user.
    attempt(() => {
      rmSync(memory.pathOf(cacheDirectory, identity), { force: true });
    }, undefined);
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
