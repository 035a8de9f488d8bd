// Parts that charts share: grids, axes, texts, and rows along an axis of ratios.
import {
  axisX,
  gridX,
  ruleX,
  text,
  type Markish,
  type PlotOptions,
  type TextOptions,
} from '@observablehq/plot';
import { COLOURS, ratioTick, ratioTicks, type Range } from './scales.ts';

export const GRID = { stroke: COLOURS.grid, strokeOpacity: 1 } as const;

/** Text over lines. */
export const HALO = { fill: COLOURS.ink, stroke: COLOURS.paper, strokeWidth: 3 } as const;

/** Options of an axis without tick marks. */
export const axis = (label: string) => ({ tickSize: 0, label, labelArrow: 'none' }) as const;

/** A text of each row at the left or the right edge, at its `y`. */
export const rowText = (
  edge: 'left' | 'right',
  rows: { readonly y: number }[],
  options: TextOptions,
): Markish =>
  text(rows, {
    ...{ y: 'y', frameAnchor: edge, ...HALO, ...options },
    ...(edge === 'left' ? { textAnchor: 'start', dx: -6 } : { textAnchor: 'end', dx: 18 }),
  });

interface RatioRows {
  readonly count: number;
  /** Height of a row, and width of the chart, in pixels. */
  readonly rowHeight: number;
  readonly width: number;
  readonly domain: Range;
  readonly label: string;
  readonly marginTop?: number;
}

/** Rows along a logarithmic axis of ratios. Row `i` has the `y` from `i` to `i + 1`. */
export function ratioRows(
  { count, rowHeight, width, domain, label, marginTop = 4 }: RatioRows,
  ...marks: readonly Markish[]
): PlotOptions {
  const ticks = ratioTicks(domain, width);
  return {
    ...{ marginTop, marginBottom: 40, marginLeft: 8, marginRight: 20 },
    height: count * rowHeight + marginTop + 40,
    x: { type: 'log', domain, label: null },
    y: { domain: [0, count], axis: null, reverse: true },
    color: { type: 'identity' },
    marks: [
      gridX(ticks, GRID),
      axisX(ticks, { text: ratioTick, ...axis(label) }),
      ruleX([1], { stroke: COLOURS.muted }),
      ...marks,
    ],
  };
}
