// State that processes share about a team's server: the memory, and a lock for questions.
import { dirname } from 'node:path';
import { NO_LOCK } from '../site/machine-lock.ts';
import { lockFile, type Lock } from '../site/measuring-lock.ts';
import { attempt } from '../system/attempt.ts';
import { ASKING_LOCKS, pathIn } from '../system/cache.ts';
import { networkOf } from '../system/file-system.ts';
import { makeFolder } from '../system/folder.ts';
import { serverIdentity, serverMemory, type ServerMemory } from './memory.ts';

export interface TeamState extends ServerMemory {
  /** The lock for asking; null while another process has it. On a file system without locks every process gets one. */
  lock(): Lock | null;
}

/**
 * @param url with the password
 * @param networkAt network file system of a path, null for none
 */
export function teamState(
  cacheDirectory: string,
  url: string,
  networkAt: (path: string) => string | null = networkOf,
): TeamState {
  return {
    ...serverMemory(cacheDirectory, url),
    lock() {
      // A lock there may block other machines, fail, or hang.
      if (networkAt(cacheDirectory) !== null) return NO_LOCK;
      const path = pathIn(cacheDirectory, ASKING_LOCKS, serverIdentity(url));
      return attempt(() => {
        makeFolder(dirname(path), 0o700);
        return lockFile(path);
      }, NO_LOCK);
    },
  };
}
