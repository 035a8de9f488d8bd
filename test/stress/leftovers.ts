// Files and processes of killed builds.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Scratch folders and temporary files in the cache of a workplace; relative paths. */
export function leftovers(folder: string): string[] {
  const cache = join(folder, 'cache');
  if (!existsSync(cache)) return [];
  const names = readdirSync(cache, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.startsWith('work/') || name.endsWith('.tmp'));
}

/** Command lines with the text, of all processes. */
export function commandLinesWith(text: string): string[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return stdout.split('\n').filter((line) => line.includes(text));
}
