// Removes files from the cache: unused ones, or all about one input.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import {
  filesAt,
  INPUTS,
  OUTPUT_NOTES,
  pathIn,
  PLACES,
  PLANS,
  REPLAYS,
  SUBSTITUTES,
  SURVEYS,
  TIDIED,
  type Place,
} from './cache.ts';
import { removeAbandoned } from './scratch.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Whether a file is young enough for a new plan. A plan rewrites older files, so that they outlive it. */
export const isFresh = (modifiedMs: number): boolean => modifiedMs > Date.now() - PLANS.days * DAY_MS;

/** Removes leftovers of dead processes and, once a day, unused files. Only builds after a miss take the time for it. Never throws. */
export function tidyUp(cacheDirectory: string): void {
  removeAbandoned(cacheDirectory);
  try {
    const stamp = pathIn(cacheDirectory, TIDIED);
    if ((statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0) > Date.now() - DAY_MS) return;
    writeFileSync(stamp, '');
  } catch {
    // The folder is missing or unwritable.
    return;
  }
  for (const place of PLACES) if (place.days < Infinity) removeUnused(cacheDirectory, place);
}

function removeUnused(cacheDirectory: string, place: Place): void {
  try {
    for (const path of filesAt(cacheDirectory, place)) {
      const { atimeMs, mtimeMs } = statSync(path);
      // On a system without access times a used file may go, and is made again.
      if (Math.max(atimeMs, mtimeMs) < Date.now() - place.days * DAY_MS)
        rmSync(path, { force: true, recursive: true });
    }
  } catch {
    // Another build removes the same files.
  }
}

/** Removes plans with their states, replays, surveys and outputs. A memory belongs to an input if it has the input's digest. */
export function forgetInput(cacheDirectory: string, digest: string): { plans: number; outputs: number } {
  const remove = (place: Place) => {
    const paths = filesAt(cacheDirectory, place).filter((path) => readFileSync(path).includes(digest));
    for (const path of paths) rmSync(path, { force: true });
    return paths;
  };
  for (const place of [REPLAYS, SURVEYS, SUBSTITUTES, INPUTS]) remove(place);
  const notes = remove(OUTPUT_NOTES);
  for (const path of notes) rmSync(path.replace(/json$/, 'bin'), { force: true });
  return { plans: remove(PLANS).length, outputs: notes.length };
}
