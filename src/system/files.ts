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

/**
 * Equal as long as the content is equal: adds the inode and the change time, which programs cannot set. Null for a file that changed
 * within the last two seconds, because a second change may have the same time.
 */
export function settledIdentity(path: string): string | null {
  try {
    const real = realpathSync(path);
    const { size, mtimeNs, ctimeNs, ctimeMs, ino, dev } = statSync(real, { bigint: true });
    if (Math.abs(Date.now() - Number(ctimeMs)) < SETTLED_MS) return null;
    return `${real} ${size} ${mtimeNs} ${ctimeNs} ${dev} ${ino}`;
  } catch {
    return null;
  }
}
