// The site of the pages: links, pictures, requests and accessibility.
// In full after a change of scripts/site.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { contentOf } from '../../scripts/site/content.ts';
import { placeOf } from '../../scripts/site/frame.ts';
import { writeSite } from '../../scripts/site/build.ts';
import { BROWSER, noBrowser } from '../support/browser.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isFull, isWithout } from '../support/needs.ts';

const site = temporaryDirectory();
writeSite(site);
const pages = globSync('**/*.html', { cwd: site }).toSorted();
const read = (page: string) => readFileSync(join(site, page), 'utf8');

test('the site has every page of docs/', () => {
  const sources = globSync('docs/*.md', { cwd: root });
  expect(sources.map(placeOf).filter((page) => !pages.includes(page))).toEqual([]);
});

test('every link and picture of the site exists, with its heading', () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/ (?:href|src)="(?!https?:|data:)([^"#]*)(?:#([^"]*))?"/g)].flatMap(
      ([, path, anchor]) => {
        const target = path === '' ? page : join(dirname(page), path!);
        const isThere =
          existsSync(join(site, target)) &&
          (anchor === undefined || read(target).includes(` id="${decodeURIComponent(anchor)}"`));
        return isThere ? [] : [`${page}: ${path!}#${anchor ?? ''}`];
      },
    ),
  );
  expect(broken).toEqual([]);
});

test('equal headings get anchors as on GitHub, and comments are left out', () => {
  const { title, html } = contentOf('# A `b`\n\n## C\n\n<!-- end -->\n\n## C\n', (target) => target);
  expect(title).toBe('A `b`');
  expect([...html.matchAll(/ id="(.*?)"/g)].map(([, id]) => id)).toEqual(['a-b', 'c', 'c-1']);
  expect(html).not.toContain('end');
});

// `skipIf` overrides the skip of the tag.
test.skipIf(!isFull || isWithout(noBrowser))(
  'axe finds no violation on any page, narrow or wide, light or dark, and no page makes a request elsewhere',
  { tags: ['slow', 'full'], timeout: 170_000 },
  async () => {
    const browser = await chromium.launch({ executablePath: BROWSER!, args: ['--no-sandbox'] });
    const tab = await browser.newPage();
    const elsewhere: string[] = [];
    tab.on('request', (request) => {
      if (!/^(?:file|data):/.test(request.url())) elsewhere.push(request.url());
    });
    const violations: unknown[] = [];
    for (const page of pages) {
      await tab.goto(pathToFileURL(join(site, page)).href);
      await tab.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
      for (const width of [360, 1280])
        for (const colorScheme of ['light', 'dark'] as const) {
          await tab.setViewportSize({ width, height: 800 });
          await tab.emulateMedia({ colorScheme });
          // The other rules do not depend on colours.
          const rules = colorScheme === 'light' ? '' : `{ runOnly: ['color-contrast'] }`;
          const found = await tab.evaluate<object[]>(
            `axe.run(${rules}).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, html: nodes[0].html.slice(0, 200) })))`,
          );
          violations.push(...found.map((one) => ({ page, width, colorScheme, ...one })));
          const isTooWide = await tab.evaluate<boolean>(
            'document.documentElement.scrollWidth > document.documentElement.clientWidth',
          );
          if (isTooWide) violations.push({ page, width, id: 'wider than the window' });
        }
    }
    await browser.close();
    expect(elsewhere).toEqual([]);
    expect(violations).toEqual([]);
  },
);
