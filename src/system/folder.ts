// A folder and those above it. Node's own way to make all of them never ends where a file system refuses a new name by saying
// that there is no such file, as /proc does.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above that are not there; one that is there stays as it is.
 * @param mode permissions of what is made, before the umask
 * @throws what the system says when it refuses
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isFolder(path)) return;
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above, mode);
    makeFolder(path, mode);
  }
}

/** Whether there is a folder here, or behind a link. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
