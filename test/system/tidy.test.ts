import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shortHash } from '../../src/system/hash.ts';
import { ledger, notePlan } from '../../src/plan/ledger.ts';
import { tidyUp } from '../../src/system/tidy.ts';
import { temporaryDirectory } from '../support/folders.ts';

const DAYS = 24 * 3600;
const age = (path: string, read: number, written = read) => {
  const now = Date.now() / 1000;
  utimesSync(path, now - read * DAYS, now - written * DAYS);
};

const spec = `${shortHash('spec')}.mlir`;

/** A cache with a plan, a spec and a foreign file. */
function cache() {
  const directory = temporaryDirectory();
  notePlan(directory, 'a', { landed: null });
  mkdirSync(join(directory, 'specs'));
  writeFileSync(join(directory, 'specs', spec), 'module {}');
  writeFileSync(join(directory, 'plans', 'notes.txt'), 'mine');
  const files = [
    ledger.pathOf(directory, 'a'),
    join(directory, 'specs', spec),
    join(directory, 'plans', 'notes.txt'),
  ] as const;
  return { directory, files };
}

test('only unused files are removed', () => {
  const { directory, files } = cache();
  for (const file of files) age(file, 31);
  tidyUp(directory);
  // A spec outlives the plans that name it.
  expect(files.map((file) => existsSync(file))).toEqual([false, true, true]);
});

test('a recently read file stays', () => {
  const { directory, files } = cache();
  for (const file of files) age(file, 2, 400);
  tidyUp(directory);
  expect(files.every((file) => existsSync(file))).toBe(true);
});

test('specs are removed after the last plan that may name them', () => {
  const { directory, files } = cache();
  age(files[1], 91);
  tidyUp(directory);
  expect(existsSync(files[1])).toBe(false);
});

test("a launcher's notes of an earlier boot are removed with their folder", () => {
  const directory = temporaryDirectory();
  const folders = ['970176c8-c5b8-4b35-96ac-e677f11f0e1e', 'any', 'notes.d'].map((name) =>
    join(directory, 'nodes', name),
  );
  for (const folder of folders) {
    mkdirSync(join(folder, 'opt'), { recursive: true });
    writeFileSync(join(folder, 'opt', 'node'), '');
    age(folder, 31);
  }
  tidyUp(directory);
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, false, true]);
});

test('tidying runs once a day', () => {
  const { directory, files } = cache();
  tidyUp(directory);
  age(files[0], 31);
  tidyUp(directory);
  expect(existsSync(files[0])).toBe(true);
  age(join(directory, 'tidied'), 2);
  tidyUp(directory);
  expect(existsSync(files[0])).toBe(false);
});

test('tidying creates no cache folder', () => {
  const directory = join(temporaryDirectory(), 'cache');
  tidyUp(directory);
  expect(existsSync(directory)).toBe(false);
  writeFileSync(directory, 'a file');
  tidyUp(directory);
  expect(readdirSync(join(directory, '..'))).toEqual(['cache']);
});
