// Creates folders with their parents. Node's `recursive` never returns on file systems such as /proc, which refuse a new name with
// ENOENT.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { resultOr } from './result-or.ts';

/**
 * Creates a folder and its missing parents.
 * @param mode permissions of new folders, before the umask
 * @throws errors of the file system
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (resultOr(() => statSync(path).isDirectory(), false)) return;
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above, mode);
    makeFolder(path, mode);
  }
}
