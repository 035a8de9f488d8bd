// Files for the compiler, named by their content.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeSlices } from '../system/bytes.ts';
import { pathIn, SPECS } from '../system/cache.ts';
import { createDigest } from '../system/digest.ts';
import { makeFolder } from '../system/folder.ts';
import { replaceFile } from '../system/temporary-files.ts';
import { isFresh } from '../system/tidy.ts';

/** Gives the function that writes a text into the cache folder, and returns its path. */
export async function textWriter(cacheDirectory: string): Promise<(text: string | Uint8Array) => string> {
  const digest = await createDigest();
  return (text) => {
    const bytes = Buffer.from(text);
    return writeOnce(pathIn(cacheDirectory, SPECS, digest([bytes])), bytes);
  };
}

/** Writes a file atomically, unless a recent file of this size is there. @returns the path */
function writeOnce(path: string, text: Uint8Array): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.size === text.length && isFresh(there.mtimeMs)) return path;
  makeFolder(dirname(path), 0o700);
  replaceFile(path, (temporary) => {
    writeSlices(temporary, [text]);
  });
  return path;
}
