// Writes a user's file: the whole file or nothing.
import { removeLeftovers, replaceFile } from '../system/temporary-files.ts';
import { UserError } from '../system/user-error.ts';
import { refusalOf } from './refusal.ts';

/**
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
