// Reads and writes the user's files, and says why the system refuses a file.
import { readFileSync } from 'node:fs';
import { removeLeftovers, replaceFile } from '../system/temporary-files.ts';
import { refusalOf } from '../system/refusal.ts';
import { UserError } from '../system/user-error.ts';

/** @throws UserError for an unreadable file */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(`${path} cannot be read: ${refusalOf(error)}`, { cause: error });
  }
}

/**
 * Writes the whole file or nothing.
 * @param make writes a temporary file, or a database
 * @throws UserError if the system refuses the file
 */
export function writeWhole(file: string, make: (path: string) => void): void {
  removeLeftovers(file);
  try {
    replaceFile(file, make);
  } catch (error) {
    // The error names the temporary file.
    if (error instanceof Error && 'syscall' in error)
      throw new UserError(`${file} cannot be written: ${refusalOf(error)}`, { cause: error });
    throw error;
  }
}
