// Test files that `npm test` runs in full, because their subject has changed. `npm run test:full` runs all files in full.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFull } from './needs.ts';

const root = join(import.meta.dirname, '../..');

/** Files of the last commit that is no merge, and files that differ from HEAD. None for a first commit, and without git. */
const changedFiles = [
  // A clone of depth 1 has a first commit only, which would be a change of all files.
  ['-c', 'log.showRoot=false', 'log', '-1', '--no-merges', '--format=', '--name-only'],
  ['diff', '--name-only', 'HEAD'],
].flatMap((words) => {
  const { stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  return (stdout as string | null)?.split('\n') ?? [];
});

/** Paths whose changes concern a test file: its own, that of its source, and those that its head names. */
function subjectsOf(file: string): string[] {
  const [, list] =
    /^\/\/ In full after a change of (.+)\.$/m.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  const named = list?.split(', ') ?? [];
  const missing = named.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new Error(`${file} names missing paths: ${missing.join(', ')}`);
  return [file, file.replace(/^test\/(.+?)(?:\.full)?\.test\.ts$/, 'src/$1.ts'), ...named];
}

/** Whether a test file runs with the tests of the full tier. */
export function isInFull(file: string): boolean {
  const subjects = subjectsOf(file);
  return (
    isFull || changedFiles.some((path) => subjects.some((one) => path === one || path.startsWith(`${one}/`)))
  );
}
