// The text of the page: one file with all its parts. The script draws the charts and tables.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { timeText } from '../../system/format.ts';
import type { PageData } from './data.ts';
import { factsOf, sectionsOf, tilesOf, type Section } from './sections.ts';
import { escapeHtml } from './texts.ts';

/** Script and style, as `scripts/build.mjs` bundles them. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

const NOTICE =
  'Charts: Observable Plot, Copyright 2020-2023 Observable, Inc., and D3, Copyright 2010-2023 Mike Bostock; ISC licence: ' +
  'permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, ' +
  'provided that the above copyright notice and this permission notice appear in all copies. The software is provided "as is" ' +
  'and the author disclaims all warranties with regard to this software.';

/** Data as text without characters that HTML interprets: gzip in base64. */
const packed = (data: PageData): string => gzipSync(JSON.stringify(data), { level: 9 }).toString('base64');

/** The page. No text of `data` can end or begin an element, and the page's policy forbids the browser to load anything. */
export function pageText(data: PageData, { script, style }: PageAssets): string {
  if (/<\/(?:script|style)|<!--/i.test(script + style))
    throw new Error('the script or style of the report page would end its own element');
  const facts = factsOf(data);
  const sections = sectionsOf(data, facts);
  const digest = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${digest}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`;
  const { about } = data;
  const filter = about.filter === '' ? '' : ` Only records${escapeHtml(about.filter)}.`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tuning report, ${escapeHtml(about.written.slice(0, 10))}</title>
<!-- ${NOTICE} -->
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<div class="wide">
<p class="brand">iree-tuned</p>
<h1>Tuning report</h1>
<p class="about">Written <time datetime="${about.written}">${timeText(about.written)}</time> from <bdi>${escapeHtml(about.database)}</bdi>.${filter}</p>
<dl class="tiles">${tilesOf(facts)
    .map(({ value, label }) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd></div>`)
    .join('')}</dl>
</div>
</header>
<nav aria-label="Sections"><ul class="wide">${sections
    .map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`)
    .join('')}</ul></nav>
<noscript><p class="wide missing">Charts and tables are drawn by a script inside this page, and scripts are switched off.</p></noscript>
<main id="main" class="wide" tabindex="-1">
<p id="problem" class="missing" role="alert" hidden></p>
<form id="filters" hidden aria-label="Filter the records"></form>
${sections.map(sectionText).join('\n')}
</main>
<footer class="wide"><p>iree-compile-tuned ${escapeHtml(about.tool)}. Everything is inside this page: it loads nothing and sends nothing.</p></footer>
<script type="application/octet-stream" id="data">${packed(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

function sectionText({ id, title, lede, missing }: Section): string {
  return `<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${lede === '' ? '' : `<p class="lede">${escapeHtml(lede)}</p>`}
${missing === undefined ? '' : missingText(missing)}
${lede === '' ? '' : `<div data-draw="${id}"></div>`}
</section>`;
}

const missingText = ({ what, command }: NonNullable<Section['missing']>): string =>
  `<div class="missing"><p>${escapeHtml(what)}</p><pre tabindex="0" data-copy><code>${escapeHtml(command)}</code></pre></div>`;
