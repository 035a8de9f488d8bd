// What nobody will use again leaves the cache directory. Builds that are no hits have the time for it.
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeAbandoned } from '../compiler/index.ts';

const DAY_MS = 24 * 3600 * 1000;

/** What is remembered of an input and not asked for in this time is worth less than its place. */
const MEMORY_LIFETIME_MS = 30 * DAY_MS;

/** A memory that names a file of ours may be that old, and then a compiler is about to read the file. */
const FILE_LIFETIME_MS = 3 * MEMORY_LIFETIME_MS;

/** Files of ours that are older when a plan uses them are written anew, so that they outlive the plan. */
export const isFresh = (modifiedMs: number): boolean => modifiedMs > Date.now() - MEMORY_LIFETIME_MS;

/** Folders and their files. What was found out about whole programs stays: somebody asked for it. */
const LIFETIMES = [
  { folder: 'plans', pattern: /^plan-[0-9a-f]+\.json$/, lifetimeMs: MEMORY_LIFETIME_MS },
  { folder: 'replays', pattern: /^replay-[0-9a-f]+\.json$/, lifetimeMs: MEMORY_LIFETIME_MS },
  { folder: 'substitutes', pattern: /^substitute-[0-9a-f]+\.json$/, lifetimeMs: MEMORY_LIFETIME_MS },
  { folder: 'surveys', pattern: /^survey-[0-9a-f]+\.json$/, lifetimeMs: MEMORY_LIFETIME_MS },
  { folder: 'specs', pattern: /^[0-9a-f]+\.mlir$/, lifetimeMs: FILE_LIFETIME_MS },
] as const;

/** Its time says when somebody last looked for what is not used any more. */
const STAMP = 'tidied';

/** Removes what dead processes left and, once a day, what was not used for a long time. Never throws. */
export function tidyUp(cacheDirectory: string): void {
  removeAbandoned(cacheDirectory);
  try {
    const stamp = join(cacheDirectory, STAMP);
    if ((statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0) > Date.now() - DAY_MS) return;
    writeFileSync(stamp, '');
  } catch {
    // There is no such directory yet, or it is not ours.
    return;
  }
  for (const { folder, pattern, lifetimeMs } of LIFETIMES)
    removeUnused(join(cacheDirectory, folder), pattern, lifetimeMs);
}

function removeUnused(folder: string, pattern: RegExp, lifetimeMs: number): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!pattern.test(name)) continue;
      const path = join(folder, name);
      const { atimeMs, mtimeMs } = statSync(path);
      // Where the system does not keep the time of reading, what was written long ago is made again.
      if (Math.max(atimeMs, mtimeMs) < Date.now() - lifetimeMs) rmSync(path, { force: true });
    }
  } catch {
    // Nothing is there, or another build is doing the same.
  }
}
