// Keeps the size of a folder of the cache below a limit.
import { rmSync } from 'node:fs';

/** A file that may go. */
export interface Kept {
  readonly path: string;
  readonly bytes: number;
  /** Time of its last use. */
  readonly usedMs: number;
}

/** Removes the least recently used files until the rest fits into `limit` bytes. */
export function removeOldest(files: readonly Kept[], limit: number): void {
  let left = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of files.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (left <= limit) return;
    rmSync(path, { force: true });
    left -= bytes;
  }
}
