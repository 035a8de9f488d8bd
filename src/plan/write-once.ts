// Files for the compiler, named by their content.
import { renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeSlices } from '../system/bytes.ts';
import { makeFolder } from '../system/folder.ts';
import { temporaryName } from '../system/scratch.ts';
import { isFresh } from '../system/tidy.ts';

/** Writes a file atomically, unless a recent file of this size is there. @returns the path */
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
