// Reads and writes the user's files, and says why the system refuses a file.
import { readFileSync } from 'node:fs';
import { messageOf } from './tell.ts';
import { type NewContent, removeLeftovers, replaceFile } from './temporary-files.ts';
import { UserError } from './user-error.ts';

const REFUSALS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  EISDIR: 'it is a folder, not a file',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};

/** The reason of an error, without its path. */
export const refusalOf = (error: unknown): string =>
  REFUSALS[String((error as { code?: unknown } | null)?.code)] ?? messageOf(error);

/**
 * Uses a file or folder.
 * @param refusal begins the message, such as `model.mlir cannot be read`
 * @throws UserError if the system refuses
 */
export function orRefusal<T>(refusal: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new UserError(`${refusal}: ${refusalOf(error)}`, { cause: error });
  }
}

/** @throws UserError for an unreadable file */
export const readText = (path: string): string =>
  orRefusal(`${path} cannot be read`, () => readFileSync(path, 'utf8'));

/**
 * Writes the whole file or nothing.
 * @throws UserError if the system refuses the file
 */
export function writeWhole(file: string, content: NewContent): void {
  removeLeftovers(file);
  try {
    replaceFile(file, content);
  } catch (error) {
    // The error names the temporary file.
    if (error instanceof Error && 'syscall' in error)
      throw new UserError(`${file} cannot be written: ${refusalOf(error)}`, { cause: error });
    throw error;
  }
}
