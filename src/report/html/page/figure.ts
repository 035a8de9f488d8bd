// A chart with a title, a note, and its values as a table.
import { plot, type PlotOptions } from '@observablehq/plot';
import { element } from './dom.ts';
import { sortableTable, type TableOptions } from './table.ts';

export interface FigureOptions<T> {
  readonly title: string;
  readonly note: string;
  readonly table: TableOptions<T>;
}

export interface Figure<T> {
  readonly element: HTMLElement;
  /**
   * @param chart a chart of this width in pixels; null without data
   * @param alternative the chart in words, for screen readers
   */
  draw(chart: (width: number) => PlotOptions | null, alternative: string, rows: readonly T[]): void;
}

/** Redraws the chart when the width of the page changes. */
export function figure<T>({ title, note, table }: FigureOptions<T>): Figure<T> {
  const chart = element('div', { class: 'chart', role: 'img' });
  const details = element('details', {}, element('summary', {}, 'These values as a table'));
  const values = sortableTable(table);
  let current: ((width: number) => PlotOptions | null) | null = null;
  let drawnAt = 0;
  let waiting: readonly T[] | null = null;

  function redraw(): void {
    const width = Math.floor(chart.clientWidth);
    if (current === null || width < LEAST_WIDTH) return;
    drawnAt = width;
    const options = current(width);
    chart.replaceChildren(
      options === null
        ? element('p', { class: 'nothing' }, 'No record matches the filters.')
        : drawn({ width, ...COMMON, ...options }),
    );
  }

  // A closed table is not built.
  function fill(): void {
    if (waiting === null || !details.open) return;
    if (values.element.parentElement === null) details.append(values.element);
    values.show(waiting);
    waiting = null;
  }
  details.addEventListener('toggle', fill);
  new ResizeObserver(() => {
    if (Math.abs(Math.floor(chart.clientWidth) - drawnAt) > 1) redraw();
  }).observe(chart);

  return {
    element: element(
      'figure',
      {},
      element('figcaption', {}, element('strong', {}, title), ' ', element('span', {}, note)),
      chart,
      details,
    ),
    draw(next, alternative, rows) {
      current = next;
      waiting = rows;
      chart.setAttribute('aria-label', alternative);
      redraw();
      fill();
    },
  };
}

/** Hides the parts of a drawing from screen readers: the chart has a text and a table. */
function drawn(options: PlotOptions): Element {
  const svg = plot(options);
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

/** During layout a page can be too narrow for a chart. */
const LEAST_WIDTH = 120;

const COMMON: PlotOptions = {
  style: { background: 'none', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
};

/** A legend of colours, for charts whose parts are too small for labels. */
export const legend = (parts: readonly { readonly name: string; readonly colour: string }[]): HTMLElement =>
  element(
    'ul',
    { class: 'legend' },
    ...parts.map(({ name, colour }) =>
      element('li', {}, element('span', { class: 'swatch', style: `background:${colour}` }), name),
    ),
  );
