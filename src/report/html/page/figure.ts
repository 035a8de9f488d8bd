// Charts: a figure with a title and a note, and the parts that charts share: colours, scales, grids, axes and texts.
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

/** The least and the greatest value of an axis. */
export type Range = readonly [low: number, high: number];

const RATIOS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000,
];

export const rangeOf = (values: readonly number[]): Range => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
];

/** Range of a logarithmic axis of ratios, with some room at both ends. It has 1. */
export function ratioDomain(ratios: readonly number[]): Range {
  const [low, high] = rangeOf([...ratios, 1, 1.1]);
  const room = (high / low) ** 0.04;
  return [low / room, high * room];
}

/** Round values on such an axis, as many as fit. */
export function ratioTicks([low, high]: Range, width: number): number[] {
  const inside = RATIOS.filter((ratio) => ratio >= low && ratio <= high);
  const apart = (58 / width) * Math.log(high / low);
  const chosen: number[] = [];
  for (const ratio of inside.sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b))))
    if (chosen.every((other) => Math.abs(Math.log(ratio / other)) >= apart)) chosen.push(ratio);
  return chosen;
}

export const ratioTick = (ratio: number): string => `${Number(ratio.toPrecision(2))}×`;

/** GFLOP/s with three digits: `0.31`, `10.4`, `104`. */
export const rateText = (gflops: number): string =>
  gflops >= 100 ? gflops.toFixed(0) : gflops >= 10 ? gflops.toFixed(1) : gflops.toPrecision(2);

/** Rate in GFLOP/s of operations in seconds; NaN for an unknown number of operations. */
export const rateOf = (flops: number | null, seconds: number): number => (flops ?? NaN) / seconds / 1e9;

export const COLOURS = {
  tuned: 'var(--tuned)',
  plain: 'var(--plain)',
  ink: 'var(--ink)',
  muted: 'var(--muted)',
  grid: 'var(--grid)',
  paper: 'var(--paper)',
} as const;

export const GRID = { stroke: COLOURS.grid, strokeOpacity: 1 } as const;

/** Text over lines. */
export const HALO = { fill: COLOURS.ink, stroke: COLOURS.paper, strokeWidth: 3 } as const;

/** Options of an axis without tick marks. */
export const axis = (label: string) => ({ tickSize: 0, label, labelArrow: 'none' }) as const;
