// Parts that charts share: colours, scales, grids, axes, texts, and rows along an axis of ratios.
import {
  axisX,
  gridX,
  ruleX,
  text,
  type Markish,
  type PlotOptions,
  type TextOptions,
} from '@observablehq/plot';

/** The least and the greatest value of an axis. */
export type Range = readonly [low: number, high: number];

/** Position of a value on a logarithmic axis, from 0 to 1. */
export const along = ([low, high]: Range, value: number): number =>
  Math.log(value / low) / Math.log(high / low);

const RATIOS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000,
];

/** The least and the greatest of many values. */
export const rangeOf = (values: readonly number[]): Range => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
];

/** Range of a logarithmic axis of ratios, with some room at both ends. It has 1 and `least`. */
export function ratioDomain(ratios: readonly number[], least = 1): Range {
  const [low, high] = rangeOf([...ratios, least, 1.1]);
  const room = (high / low) ** 0.04;
  return [low / room, high * room];
}

/** Round values on such an axis, as many as fit. */
export function ratioTicks([low, high]: Range, width: number): number[] {
  const inside = RATIOS.filter((ratio) => ratio >= low && ratio <= high);
  const apart = (58 / width) * Math.log(high / low);
  const chosen: number[] = inside.includes(1) ? [1] : [];
  for (const ratio of [...inside].sort((a, b) => Math.abs(Math.log(a)) - Math.abs(Math.log(b))))
    if (chosen.every((other) => Math.abs(Math.log(ratio / other)) >= apart)) chosen.push(ratio);
  return chosen;
}

export const ratioTick = (ratio: number): string => `${Number(ratio.toPrecision(2))}×`;

/** GFLOP/s with three digits: `0.31`, `10.4`, `104`. */
export const rateText = (gflops: number): string =>
  gflops >= 100 ? gflops.toFixed(0) : gflops >= 10 ? gflops.toFixed(1) : gflops.toPrecision(2);

/** Rate in GFLOP/s of operations in seconds. */
export const rateOf = (flops: number, seconds: number): number => flops / seconds / 1e9;

export const COLOURS = {
  tuned: 'var(--tuned)',
  plain: 'var(--plain)',
  undecided: 'var(--undecided)',
  worse: 'var(--worse)',
  ink: 'var(--ink)',
  muted: 'var(--muted)',
  grid: 'var(--grid)',
  paper: 'var(--paper)',
} as const;

/** A text for a chart. A long text loses its middle. */
export const clipped = (text: string, longest: number): string =>
  text.length <= longest
    ? text
    : `${text.slice(0, Math.ceil(longest * 0.6))}…${text.slice(-Math.floor(longest * 0.3))}`;

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
