// What processes that ask a team's server share: what they remember of it, and whose turn it is.
import { dirname } from 'node:path';
import { NO_LOCK } from '../site/machine-lock.ts';
import { lockFile, type Lock } from '../site/measuring-lock.ts';
import { ASKING_LOCKS, pathIn } from '../system/cache.ts';
import { makeFolder } from '../system/folder.ts';
import { serverIdentity, serverMemory, type ServerMemory } from './memory.ts';

export interface TeamState extends ServerMemory {
  /** One process at a time asks: null where another one has the turn. Where nothing can be locked, all have it. */
  lock(): Lock | null;
}

/** @param url of the server, password included */
export function teamState(cacheDirectory: string, url: string): TeamState {
  return {
    ...serverMemory(cacheDirectory, url),
    lock() {
      const path = pathIn(cacheDirectory, ASKING_LOCKS, serverIdentity(url));
      try {
        makeFolder(dirname(path), 0o700);
        return lockFile(path);
      } catch {
        return NO_LOCK;
      }
    },
  };
}
