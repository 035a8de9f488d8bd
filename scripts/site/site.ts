// The pages of the site. A page keeps its place in the checkout, and so does each file that a page links to.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { contentOf } from './content.ts';
import { frame, placeOf } from './frame.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Site {
  /** HTML by path in the site. */
  readonly pages: ReadonlyMap<string, string>;
  /** Paths in the checkout, and in the site, of linked files that are no pages. */
  readonly files: readonly string[];
}

/**
 * The page and all pages that it leads to.
 * @throws Error if a link leads to no file
 */
export function siteOf(first: string): Site {
  const found = new Set([first]);
  const contents = new Map<string, ReturnType<typeof contentOf>>();
  // The set grows during the loop.
  for (const path of found) {
    if (!statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile())
      throw new Error(`a page links to ${path}, and there is no such file`);
    if (!path.endsWith('.md')) continue;
    const relink = (target: string) => {
      const [file = '', anchor] = target.split('#');
      if (file === '') return target;
      const linked = posix.join(dirname(path), file);
      found.add(linked);
      const place = posix.relative(dirname(placeOf(path)), placeOf(linked));
      return anchor === undefined ? place : `${place}#${anchor}`;
    };
    contents.set(path, contentOf(readFileSync(join(ROOT, path), 'utf8'), relink));
  }
  const links = [...contents].map(([path, { title }]) => ({ path, title }));
  return {
    pages: new Map([...contents].map(([path, own]) => [placeOf(path), frame(own, path, links)])),
    files: [...found].filter((path) => !contents.has(path)),
  };
}
