// Writes a whole file or nothing, even if the process is killed.
import { renameSync, rmSync } from 'node:fs';
import { temporaryName } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import { refusalOf } from './refusal.ts';

/**
 * @param make writes a temporary file, or a database
 * @throws UserError if the system refuses the file
 */
export async function writeWhole(file: string, make: (path: string) => Promise<void> | void): Promise<void> {
  const path = temporaryName(file);
  try {
    await make(path);
    renameSync(path, file);
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    // The error names the temporary file.
    if (error instanceof Error && 'syscall' in error)
      throw new UserError(`${file} cannot be written: ${refusalOf(error)}`, { cause: error });
    throw error;
  }
}
