// Writes whole files: a reader sees the old content or the new one, even if the writer is killed.
import { renameSync } from 'node:fs';
import { temporaryName } from './owner.ts';
import { removeIfPossible } from './files.ts';

/**
 * Replaces or creates a file. `removeLeftovers` removes a killed writer's file; in the cache folder builds do.
 * @param make writes the new content to the given path; it may be a database
 * @throws errors of `make` and of the file system, and leaves no temporary file
 */
export function replaceFile(path: string, make: (temporary: string) => void): void {
  const temporary = temporaryName(path);
  try {
    make(temporary);
    renameSync(temporary, path);
  } catch (error) {
    for (const end of ['', '-wal', '-shm', '-journal']) removeIfPossible(temporary + end);
    throw error;
  }
}
