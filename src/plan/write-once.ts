// Files that the compiler reads, named by their content.
import { renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeSlices } from '../system/bytes.ts';
import { makeFolder } from '../system/folder.ts';
import { temporaryName } from '../system/scratch.ts';
import { isFresh } from '../system/tidy.ts';

/** Writes a file in one step and gives its path. A file of this size that was read or written lately is left alone. */
export function writeOnce(path: string, text: Uint8Array): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.size === text.length && isFresh(there.mtimeMs)) return path;
  makeFolder(dirname(path), 0o700);
  const temporary = temporaryName(path);
  try {
    writeSlices(temporary, [text]);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return path;
}
