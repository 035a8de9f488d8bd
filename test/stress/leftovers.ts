// What killed processes leave behind.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Scratch folders, and files that were to be renamed, in the cache of a workplace; relative paths. */
export function leftovers(folder: string): string[] {
  const cache = join(folder, 'cache');
  if (!existsSync(cache)) return [];
  const names = readdirSync(cache, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.startsWith('work/') || name.endsWith('.tmp'));
}

/** Command lines of all processes that mention the text, but for the one that looks. */
export function commandLinesWith(text: string): string[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return stdout.split('\n').filter((line) => line.includes(text));
}
