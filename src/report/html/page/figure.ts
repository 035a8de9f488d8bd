// A chart with a title and a note.
import { plot, type PlotOptions } from '@observablehq/plot';
import { element } from './dom.ts';

/** A chart of this width in pixels; null without data. */
type Chart = (width: number) => PlotOptions | null;

/** Adds a figure to `host`. Redraws the chart when the width of the page changes. */
export function figure(host: HTMLElement, title: string, note: string) {
  const chart = element('div', { class: 'chart', role: 'img' });
  let current: Chart | null = null;
  let drawnAt = 0;

  function redraw(): void {
    const width = Math.floor(chart.clientWidth);
    if (current === null || width < LEAST_WIDTH) return;
    drawnAt = width;
    const plotted = current(width);
    if (plotted === null) {
      chart.replaceChildren(element('p', { class: 'nothing' }, 'No record matches the filters.'));
      return;
    }
    const svg = plot({ width, ...COMMON, ...plotted });
    // Screen readers read the text of the chart, and the table of the records.
    svg.setAttribute('aria-hidden', 'true');
    chart.replaceChildren(svg);
  }

  new ResizeObserver(() => {
    if (Math.abs(Math.floor(chart.clientWidth) - drawnAt) > 1) redraw();
  }).observe(chart);

  const caption = element('figcaption', {}, element('strong', {}, title), ' ', element('span', {}, note));
  host.append(element('figure', {}, caption, chart));
  /** @param alternative the chart in words, for screen readers */
  return (next: Chart, alternative: string): void => {
    current = next;
    chart.setAttribute('aria-label', alternative);
    redraw();
  };
}

/** During layout a page can be too narrow for a chart. */
const LEAST_WIDTH = 120;

const COMMON: PlotOptions = {
  style: { background: 'none', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
};
