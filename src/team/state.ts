// What processes that ask a team's server share: what they remember of it, and whose turn it is.
import { dirname } from 'node:path';
import { NO_LOCK } from '../site/machine-lock.ts';
import { lockFile, type Lock } from '../site/measuring-lock.ts';
import { ASKING_LOCKS, pathIn } from '../system/cache.ts';
import { networkOf } from '../system/file-system.ts';
import { makeFolder } from '../system/folder.ts';
import { serverIdentity, serverMemory, type ServerMemory } from './memory.ts';

export interface TeamState extends ServerMemory {
  /** One process at a time asks: null where another one has the turn. Where nothing can be locked, all have it. */
  lock(): Lock | null;
}

/**
 * @param url of the server, password included
 * @param networkAt the network file system that a path lies on, null where it is none; what the system says when left out
 */
export function teamState(
  cacheDirectory: string,
  url: string,
  networkAt: (path: string) => string | null = networkOf,
): TeamState {
  return {
    ...serverMemory(cacheDirectory, url),
    lock() {
      // A lock there may keep other machines waiting, fail, or not return.
      if (networkAt(cacheDirectory) !== null) return NO_LOCK;
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
