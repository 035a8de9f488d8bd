// The order of the folders is the one that ARCHITECTURE.md says.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src');

/** Folders of src/ from the lowest up, as the page lists them. */
const order = [
  ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/^\| `src\/(\w+)\/`.*\|$/gm),
].map(([, folder]) => folder!);

const folderOf = (file: string) => relative(source, file).split('/')[0]!;

/** All imports of one file from another folder, dynamic ones and those of types included. */
function imports(file: string): { from: string; to: string }[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
    .map(([, path]) => ({ from: file, to: resolve(dirname(file), path!) }))
    .filter(({ to }) => to.startsWith(`${source}/`) && folderOf(to) !== folderOf(file));
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(source, name));

test('the page lists every folder, each once', () => {
  const folders = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(order.toSorted()).toEqual(folders.map(({ name }) => name).sort());
});

test('a folder imports from those above it on the page only', () => {
  const all = files.flatMap(imports);
  expect(all.length).toBeGreaterThan(300);
  const upwards = all.filter(({ from, to }) => order.indexOf(folderOf(to)) > order.indexOf(folderOf(from)));
  expect(upwards.map(({ from, to }) => `${relative(root, from)} -> ${relative(root, to)}`)).toEqual([]);
});

test('no code outside the folders of a kind of work asks for the kind', () => {
  const asking = files.filter((file) => /\bisOperationWork\b/.test(readFileSync(file, 'utf8')));
  expect(asking.map(folderOf).filter((folder) => folder !== 'workload' && folder !== 'backend')).toEqual([]);
});
