// What the system refuses, in words: it has names of four letters for what people know as a missing folder.
import { errorCode } from '../store/errors.ts';
import { messageOf } from '../system/tell.ts';

const REFUSALS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  EISDIR: 'it is a folder, not a file',
  ENOTDIR: 'a part of this path is no folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};

/** Why, without the path that it was about. */
export const inWords = (error: unknown): string => REFUSALS[errorCode(error)] ?? messageOf(error);
