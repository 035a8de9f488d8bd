// Why the system refuses a file, in words.
import { messageOf } from './tell.ts';

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
