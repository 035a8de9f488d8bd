// Removes everything that the cache remembers about one input.
import { readFileSync, rmSync } from 'node:fs';
import { filesAt, INPUTS, OUTPUT_NOTES, PLANS, REPLAYS, SUBSTITUTES, SURVEYS, type Place } from './cache.ts';

/**
 * Removes plans with their states, replays, surveys and outputs. A memory belongs to an input if it has the input's digest.
 * @returns the number of removed plans and outputs
 */
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
