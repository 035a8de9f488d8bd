// Links of the pages lead to files and headings that exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/folders.ts';

const PAGES = globSync(['*.md', '{docs,bench,db}/*.md', 'scripts/packages/*.md'], { cwd: root }).toSorted();

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Anchors of a page, as GitHub makes them. */
const anchorsOf = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const isBroken = (page: string, target: string): boolean => {
  const [path, anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path!);
  return !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
};

test.each(PAGES)('%s has no broken link', (page) => {
  const targets = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)|(?:src|srcset)="(?!https?:)([^"]+)"/g)];
  expect(
    targets.map(([, link, source]) => link ?? source!).filter((target) => isBroken(page, target)),
  ).toEqual([]);
});

test('a missing file or heading is a broken link', () => {
  expect(isBroken('README.md', 'docs/none.md')).toBe(true);
  expect(isBroken('README.md', 'docs/style.md#none')).toBe(true);
  expect(isBroken('docs/style.md', '../README.md')).toBe(false);
});
