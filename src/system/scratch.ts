// Temporary folders in the cache. Their names contain their owner, so the next process removes leftovers of a killed one.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { owner, OWNER, removeIfAbandoned } from './temporary-files.ts';
import { filesAt, pathIn, PLACES, SCRATCH } from './cache.ts';
import { namesIn, removeIfPossible } from './files.ts';
import { makeFolder } from './folder.ts';
import { UserError } from './user-error.ts';

/** A file that marks a scratch folder of this program. */
const MARKER = '.iree-tuned-scratch';

const folders = new Set<string>();

/**
 * Creates an empty folder in the cache; null if that fails. The caller removes it. `exitLike` removes it too, and the next call removes
 * folders of killed processes.
 */
export function makeScratchFolder(cacheDirectory: string, prefix: string): string | null {
  try {
    const path = pathIn(cacheDirectory, SCRATCH, `${prefix}-${owner()}-`);
    makeFolder(dirname(path), 0o700);
    removeAbandoned(cacheDirectory);
    const folder = mkdtempSync(path);
    // An empty file fits on a full disk.
    writeFileSync(join(folder, MARKER), 'scratch\n');
    folders.add(folder);
    return folder;
  } catch {
    return null;
  }
}

/**
 * Runs an action with a scratch folder, and removes the folder.
 * @throws UserError for a cache folder that cannot be written
 */
export async function withScratchFolder<T>(
  cacheDirectory: string,
  prefix: string,
  action: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = makeScratchFolder(cacheDirectory, prefix);
  if (folder === null) throw new UserError(`the cache folder ${cacheDirectory} cannot be written`);
  try {
    return await action(folder);
  } finally {
    // A stream of a failed action may still make a file there. The folder is removed again at the end of this process.
    removeIfPossible(folder);
  }
}

/** Removes all scratch folders of this process. Never throws. */
export function removeScratchFolders(): void {
  for (const folder of folders) removeIfPossible(folder);
}

/** Removes scratch folders and temporary files of dead processes. Never throws. */
export function removeAbandoned(cacheDirectory: string): void {
  const scratch = pathIn(cacheDirectory, SCRATCH);
  const folders = namesIn(scratch)
    .map((name) => join(scratch, name))
    .filter((path) => existsSync(join(path, MARKER)));
  const files = PLACES.flatMap((place) => filesAt(cacheDirectory, place, `\\.${OWNER}\\.tmp`));
  for (const path of [...folders, ...files]) removeIfAbandoned(path);
}
