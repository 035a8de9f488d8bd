// The document around a page's content: title, links to all pages, colours.
import { dirname, posix } from 'node:path';
import type { Content } from './content.ts';

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --back: #fff; --block: #f6f8fa; --edge: #d1d9e0; --link: #0757ba }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --soft: #9198a1; --back: #0d1117; --block: #151b23; --edge: #3d444d; --link: #71b2ff }
}
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back) }
.all { max-width: 74rem; margin: 0 auto; padding: 1rem; display: grid; gap: 1rem 2.5rem; grid-template-columns: minmax(0, 1fr) }
@media (min-width: 60rem) { .all { grid-template-columns: 14rem minmax(0, 1fr) } }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1rem }
@media (min-width: 60rem) { nav ul { display: block; position: sticky; top: 1rem } nav li { padding: .2rem 0 } }
a { color: var(--link) }
nav [aria-current] { color: var(--text); font-weight: 600 }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 .6em } h1 { margin-top: 0 }
img { max-width: 100%; height: auto }
code, pre { font: .875em/1.45 ui-monospace, monospace }
code { background: var(--block); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere }
pre { background: var(--block); padding: .8rem; border-radius: 6px; overflow: auto }
pre code { padding: 0; overflow-wrap: normal; font-size: inherit }
.wide { overflow: auto; margin: 1em 0 }
table { border-collapse: collapse; font-size: .9em }
th, td { border: 1px solid var(--edge); padding: .3rem .6rem; text-align: left; vertical-align: top }
[align=right] { text-align: right }
.skip { position: absolute; left: -99rem } .skip:focus { left: 1rem }`;

/** Path in the site of a page in the checkout. */
export const placeOf = (page: string): string =>
  page === 'README.md' ? 'index.html' : page.replace(/\.md$/, '.html');

interface Link {
  /** In the checkout. */
  readonly path: string;
  readonly title: string;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * A whole document.
 * @param page path in the checkout
 * @param links all pages
 */
export function frame({ title, html }: Content, page: string, links: readonly Link[]): string {
  const own = placeOf(page);
  const items = links.map(({ path, title: name }) => {
    const current = path === page ? ' aria-current="page"' : '';
    const target = posix.relative(dirname(own), placeOf(path));
    return `<li><a href="${target}"${current}>${escaped(name)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}
</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="all">
<nav aria-label="Pages"><ul>
${items.join('\n')}
</ul></nav>
<main id="content">
${html}</main>
</div>
</body>
</html>
`;
}
