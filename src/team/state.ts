// State that processes share about a team's server: failures, misses, and a lock for questions. The cache folder holds it, because a write
// to the database makes all cached compiles stale.
import { withoutPassword } from '../settings/address.ts';
import { NO_LOCK, type Lock } from '../system/machine-lock.ts';
import { lockFile } from '../site/measuring-lock.ts';
import { ASKING_LOCKS, BREAKERS, MISSING, pathIn } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { removeIfPossible } from '../system/files.ts';
import { shortHash } from '../system/hash.ts';
import { memoryOf } from '../system/memory.ts';
import { resultOr } from '../system/result-or.ts';
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

export interface TeamState {
  breaker(): Breaker | null;
  /** @param breaker null after an answer */
  setBreaker(breaker: Breaker | null): void;
  missing(): Missing;
  setMissing(missing: Missing): void;
  /** Forgets failures and misses. */
  forget(): void;
  /** The lock for asking; null while another process has it. On a network disk or an unwritable one every process gets one. */
  lock(): Lock | null;
}

/** @param url with the password: a corrected password starts without failures */
export function teamState(cacheDirectory: string, url: string): TeamState {
  // 16 bits of a digest of the password: enough to notice a new password, too few to guess it.
  const identity = `${shortHash(withoutPassword(url))}-${shortHash(url).slice(0, 4)}`;
  // Nothing was written to a folder of another user.
  const remove = (memory: Pick<typeof breakers, 'pathOf'>) => {
    removeIfPossible(memory.pathOf(cacheDirectory, identity));
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
    lock() {
      const path = pathIn(cacheDirectory, ASKING_LOCKS, identity);
      return resultOr(() => lockFile(path), NO_LOCK);
    },
  };
}
