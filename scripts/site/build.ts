// `npm run docs:site -- [FOLDER]`: writes a static site with README.md and each page that it leads to.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, siteOf } from './site.ts';

export function writeSite(folder: string): void {
  const { pages, files } = siteOf('README.md');
  const placeOf = (path: string) => {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    return place;
  };
  for (const [path, html] of pages) writeFileSync(placeOf(path), html);
  for (const path of files) cpSync(join(ROOT, path), placeOf(path));
}

if (import.meta.main) {
  const folder = process.argv[2] ?? 'site';
  writeSite(folder);
  console.log(join(folder, 'index.html'));
}
