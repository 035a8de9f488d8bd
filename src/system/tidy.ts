// Removes unused files from the cache folder. Builds after a miss have the time for it.
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, pathIn, PLACES, PLANS, TIDIED, type Place } from './cache.ts';
import { removeAbandoned } from './scratch.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Files of ours that are older when a plan uses them are written anew, so that they outlive the plan. */
export const isFresh = (modifiedMs: number): boolean => modifiedMs > Date.now() - PLANS.days * DAY_MS;

/** Removes leftovers of dead processes and, once a day, files that were not used for a long time. Never throws. */
export function tidyUp(cacheDirectory: string): void {
  removeAbandoned(cacheDirectory);
  try {
    const stamp = pathIn(cacheDirectory, TIDIED);
    if ((statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0) > Date.now() - DAY_MS) return;
    writeFileSync(stamp, '');
  } catch {
    // There is no such directory yet, or it is not ours.
    return;
  }
  for (const place of PLACES) if (place.days < Infinity) removeUnused(cacheDirectory, place);
}

function removeUnused(cacheDirectory: string, place: Place): void {
  const { folder, isOurs } = filesOf(cacheDirectory, place);
  try {
    for (const name of readdirSync(folder)) {
      if (!isOurs.test(name)) continue;
      const path = join(folder, name);
      const { atimeMs, mtimeMs } = statSync(path);
      // If the system does not keep the time of reading, an old file is made again.
      if (Math.max(atimeMs, mtimeMs) < Date.now() - place.days * DAY_MS)
        rmSync(path, { force: true, recursive: true });
    }
  } catch {
    // Nothing is there, or another build is doing the same.
  }
}
