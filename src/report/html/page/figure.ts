// A chart with a title, a note, and its values as a table.
import { plot, type PlotOptions } from '@observablehq/plot';
import { element } from './dom.ts';
import { sortableTable, type TableOptions } from './table.ts';

interface FigureOptions<T> extends TableOptions<T> {
  readonly title: string;
  readonly note: string;
  /** Parts of a legend, for charts whose parts are too small for labels. */
  readonly legend?: readonly { readonly name: string; readonly colour: string }[];
}

/** A chart of this width in pixels; null without data. */
type Chart = (width: number) => PlotOptions | null;

/** Adds a figure to `host`. Redraws the chart when the width of the page changes. */
export function figure<T>(host: HTMLElement, options: FigureOptions<T>) {
  const { title, note, legend = [] } = options;
  const chart = element('div', { class: 'chart', role: 'img' });
  const values = sortableTable(options);
  const summary = element('summary', {}, 'These values as a table');
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
    // Screen readers read the text and the table of the chart.
    svg.setAttribute('aria-hidden', 'true');
    chart.replaceChildren(svg);
  }

  new ResizeObserver(() => {
    if (Math.abs(Math.floor(chart.clientWidth) - drawnAt) > 1) redraw();
  }).observe(chart);

  const caption = element('figcaption', {}, element('strong', {}, title), ' ', element('span', {}, note));
  if (legend.length > 0)
    caption.append(
      element(
        'ul',
        { class: 'legend' },
        ...legend.map(({ name, colour }) =>
          element('li', {}, element('span', { class: 'swatch', style: `background:${colour}` }), name),
        ),
      ),
    );
  host.append(element('figure', {}, caption, chart, element('details', {}, summary, values.element)));
  return {
    /** @param alternative the chart in words, for screen readers */
    draw(next: Chart, alternative: string, rows: readonly T[]) {
      current = next;
      chart.setAttribute('aria-label', alternative);
      redraw();
      values.show(rows);
    },
  };
}

/** During layout a page can be too narrow for a chart. */
const LEAST_WIDTH = 120;

const COMMON: PlotOptions = {
  style: { background: 'none', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
};
