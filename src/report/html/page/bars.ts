// Bars of rates for each shape, with the peak as a line.
import { axisX, gridX, rect, ruleX, text, type PlotOptions, type TextOptions } from '@observablehq/plot';
import { axis, GRID, HALO } from './marks.ts';
import { COLOURS, rateText } from './scales.ts';

export interface Bar {
  readonly name: string;
  /** GFLOP/s. */
  readonly rate: number;
  readonly colour: string;
  /** Whether it is the tuned bar. */
  readonly isOurs: boolean;
}

/** A bar at its place, in pixels from the top. */
interface PlacedBar extends Bar {
  readonly y1: number;
  readonly y2: number;
}

export interface BarGroup {
  readonly name: string;
  /** Text after the name. */
  readonly note: string;
  readonly bars: readonly Bar[];
}

const [BAR, HEAD, GAP] = [15, 22, 14];

/** Groups of bars that begin at 0. */
export function barsOf(groups: readonly BarGroup[], peak: number | null, width: number): PlotOptions | null {
  if (groups.length === 0) return null;
  let top = peak === null ? 0 : 18;
  const heads: { y: number; name: string; note: string }[] = [];
  const bars: PlacedBar[] = [];
  for (const { name, note, bars: own } of groups) {
    heads.push({ y: top + HEAD / 2, name, note });
    top += HEAD;
    for (const bar of own) {
      bars.push({ ...bar, y1: top + 1, y2: top + BAR - 1 });
      top += BAR;
    }
    top += GAP;
  }
  const most = Math.max(peak ?? 0, ...bars.map(({ rate }) => rate));
  // The label of a long bar is inside the bar, away from the line of the peak.
  const isLong = ({ rate }: Bar) => rate > most * 0.6;
  const label = (some: PlacedBar[], options: TextOptions) =>
    text(some, {
      ...{ x: 'rate', y: ({ y1, y2 }: PlacedBar) => (y1 + y2) / 2, fontSize: 11 },
      ...{ text: ({ rate, name }: Bar) => `${rateText(rate)}  ${name}`, ...options },
    });
  const inside = { dx: -6, textAnchor: 'end', fill: COLOURS.paper } as const;
  const outside = { dx: 5, textAnchor: 'start', stroke: COLOURS.paper, strokeWidth: 3 } as const;
  return {
    ...{ height: top + 44, marginTop: 4, marginBottom: 40, marginLeft: 2, marginRight: 20 },
    x: { domain: [0, most * 1.01], label: null },
    y: { domain: [0, top], axis: null, reverse: true },
    marks: [
      gridX({ ...GRID, ticks: width / 110 }),
      axisX({ ticks: width / 110, ...axis('GFLOP/s  →') }),
      rect(bars, { x1: 0, x2: 'rate', y1: 'y1', y2: 'y2', fill: 'colour', rx: 1 }),
      ruleX([0], { stroke: COLOURS.muted }),
      ...(peak === null
        ? []
        : [
            ruleX([peak], { stroke: COLOURS.ink, strokeWidth: 1.5, strokeDasharray: '5 3' }),
            text([peak], {
              ...{ x: peak, y: 6, textAnchor: 'end', dx: -5, fontWeight: 600, fill: COLOURS.ink },
              text: () => `peak ${rateText(peak)}`,
            }),
          ]),
      ...[true, false].flatMap((isOurs) => {
        const own = bars.filter((bar) => bar.isOurs === isOurs);
        const fontWeight = isOurs ? 700 : 400;
        return [
          label(own.filter(isLong), { ...inside, fontWeight }),
          label(
            own.filter((bar) => !isLong(bar)),
            { ...outside, fontWeight, fill: isOurs ? COLOURS.ink : COLOURS.muted },
          ),
        ];
      }),
      text(heads, {
        ...{ y: 'y', frameAnchor: 'left', textAnchor: 'start', fontWeight: 600, ...HALO },
        text: ({ name, note }: BarGroup) => `${name}   ${note}`,
      }),
    ],
    color: { type: 'identity' },
  };
}
