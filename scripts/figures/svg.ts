// Parts of pictures for pages. Colours follow the reader's light or dark mode.

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #59636e }
  .bold { font-weight: 600 }
  .box { fill: #f6f8fa; stroke: #59636e }
  .main { fill: #ddf4ff; stroke: #0969da }
  .line { stroke: #59636e; fill: none }
  .grid { stroke: #d1d9e0 }
  .before { fill: #59636e }
  .after { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
    .box { fill: #151b23; stroke: #9198a1 }
    .main { fill: #0c2d4d; stroke: #4493f8 }
    .line { stroke: #9198a1 }
    .grid { stroke: #3d444d }
    .before { fill: #9198a1 }
    .after { fill: #4493f8 }
  }`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Sizes and places are in pixels, from the top left. */
export const picture = (width: number, height: number, title: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${STYLE}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" class="before"/></marker></defs>
${parts.join('\n')}
</svg>
`;

export const text = (x: number, y: number, words: string, style = '', anchor = 'start'): string =>
  `<text x="${x}" y="${y}" class="${style}" text-anchor="${anchor}">${escaped(words)}</text>`;

export const box = (x: number, y: number, width: number, height: number, style: string): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" class="${style}"/>`;

/** A line through points, such as `M0 0H10V5`. */
export const line = (path: string, style = 'line'): string =>
  `<path d="${path}" class="${style}" fill="none"/>`;

/** `<->` has a tip at both ends. */
export const arrow = (path: string, tips: '->' | '<->' = '->'): string =>
  `<path d="${path}" class="line" marker-end="url(#tip)"${tips === '->' ? '' : ' marker-start="url(#tip)"'}/>`;

export const dot = (x: number, y: number, style: string): string =>
  `<circle cx="${x.toFixed(1)}" cy="${y}" r="5" class="${style}"/>`;
