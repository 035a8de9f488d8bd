// What the file system says of a path, without a reason to fail.
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';

/** The first `length` bytes of a file, one character each; `''` when it cannot be read. */
export function readHead(path: string, length = 1024): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.allocUnsafe(length);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, length, 0));
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Whether the path leads to a regular file that somebody may execute. */
export function isExecutableFile(path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && stat.isFile() && (stat.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** The real path, or the path itself when it leads nowhere. */
export function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A string that changes when a file is replaced: real path, size and modification time in nanoseconds; null when it cannot be seen. */
export function fileIdentity(path: string): string | null {
  try {
    const real = realpathSync(path);
    const { size, mtimeNs } = statSync(real, { bigint: true });
    return `${real} ${size} ${mtimeNs}`;
  } catch {
    return null;
  }
}

/** Resolution of file times, with a margin, in milliseconds. */
const SETTLED_MS = 2000;

/** A file at one moment. */
export interface FileState {
  /** Another one after each change: adds to `fileIdentity` the inode and the change time, which programs cannot set. */
  readonly identity: string;
  /** Whether it had not changed for two seconds: before that a second change may have the same time. */
  readonly isSettled: boolean;
}

/** Null for a file that cannot be seen. */
export function fileState(path: string): FileState | null {
  try {
    const real = realpathSync(path);
    const { size, mtimeNs, ctimeNs, ctimeMs, ino, dev } = statSync(real, { bigint: true });
    return {
      identity: `${real} ${size} ${mtimeNs} ${ctimeNs} ${dev} ${ino}`,
      isSettled: Math.abs(Date.now() - Number(ctimeMs)) >= SETTLED_MS,
    };
  } catch {
    return null;
  }
}

/** Equal as long as the content is equal; null for a file that changed within the last two seconds or cannot be seen. */
export const settledIdentity = (path: string): string | null => settled(fileState(path));

/** The identity of a settled state, else null. */
export const settled = (state: FileState | null): string | null =>
  state?.isSettled === true ? state.identity : null;
