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

/** Writes that a clock cannot tell apart lie closer together than that, in milliseconds. */
const SETTLED_MS = 2000;

/**
 * The same, and with the inode and the time of its last change of any kind, which nobody can set: as long as it is equal, so is the
 * content. Null also for a file that was changed a moment ago: a second change could leave it equal.
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
