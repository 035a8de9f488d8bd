// A chart with its title, a note on how to read it, and the same values as a table.
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
   * @param chart a chart of this width in pixels; null where there is nothing to be drawn
   * @param alternative what the chart says, for who does not see it
   */
  draw(chart: (width: number) => PlotOptions | null, alternative: string, rows: readonly T[]): void;
}

/** Charts follow the width of the page. */
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
        ? element('p', { class: 'nothing' }, 'Nothing fits the filters.')
        : drawn({ width, ...COMMON, ...options }),
    );
  }

  // A table that nobody has opened is not made.
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

/** The parts of a drawing have no names: the chart has one, and a table. */
function drawn(options: PlotOptions): Element {
  const svg = plot(options);
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

/** A page that is being laid out may be narrower for a moment than any chart can be. */
const LEAST_WIDTH = 120;

const COMMON: PlotOptions = {
  style: { background: 'none', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
};

/** What colours stand for: beside a chart whose parts are too small for labels of their own. */
export const legend = (parts: readonly { readonly name: string; readonly colour: string }[]): HTMLElement =>
  element(
    'ul',
    { class: 'legend' },
    ...parts.map(({ name, colour }) =>
      element('li', {}, element('span', { class: 'swatch', style: `background:${colour}` }), name),
    ),
  );
