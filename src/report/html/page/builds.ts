// Hit rates of builds by day, and the reasons for untuned operations.
import { areaY, axisX, axisY, gridY, line, rectY, ruleY, text, type PlotOptions } from '@observablehq/plot';
import type { Day } from '../data.ts';
import { counted, countText } from '../../../system/format.ts';
import { element } from './dom.ts';
import { figure, legend } from './figure.ts';
import type { Drawing } from './page.ts';
import { COLOURS } from './scales.ts';
import { sortableTable } from './table.ts';

/** One day, or one week of a long history. */
interface Period extends Omit<Day, 'day'> {
  readonly from: Date;
  readonly until: Date;
  readonly name: string;
}

const DAY_MS = 24 * 3600 * 1000;

/** A longer history is drawn by weeks. */
const MOST_DAYS = 120;

const OUTCOMES = [
  { key: 'hit', name: 'found', colour: COLOURS.tuned },
  { key: 'tuned', name: 'tuned in the build', colour: COLOURS.packed },
  { key: 'default', name: 'left to the default', colour: COLOURS.plain },
] as const;

const WHAT: Readonly<Record<string, string>> = {
  unchanged: 'compile not changed',
  fallback: 'compile repeated without tuning',
  default: 'operation left to the default',
  skipped: 'operation skipped',
  notVerified: 'program not verified',
};

export const drawBuilds: Drawing = (host, { data }) => {
  const periods = periodsOf(data.history);
  if (periods.length > 0) {
    drawRate(host, periods);
    drawOutcomes(host, periods);
  }
  drawReasons(host, periods, data.statistics.reasons);
  return () => undefined;
};

function periodsOf(history: readonly Day[]): Period[] {
  const first = history[0];
  if (first === undefined) return [];
  const dateOf = ({ day }: Day) => Date.parse(`${day}T00:00:00Z`);
  const isWeekly = (dateOf(history.at(-1)!) - dateOf(first)) / DAY_MS > MOST_DAYS;
  const length = isWeekly ? 7 : 1;
  const groups = Map.groupBy(history, (day) => Math.floor((dateOf(day) - dateOf(first)) / (length * DAY_MS)));
  return [...groups].map(([number, days]): Period => {
    const from = new Date(dateOf(first) + number * length * DAY_MS);
    const reasons: Record<string, number> = {};
    for (const [reason, count] of days.flatMap((day) => Object.entries(day.reasons)))
      reasons[reason] = (reasons[reason] ?? 0) + count;
    const sum = (key: 'compiles' | 'hit' | 'tuned' | 'default' | 'skipped') =>
      days.reduce((total, day) => total + day[key], 0);
    return {
      ...{ from, until: new Date(from.getTime() + length * DAY_MS), reasons },
      ...{ compiles: sum('compiles'), hit: sum('hit'), tuned: sum('tuned'), default: sum('default') },
      skipped: sum('skipped'),
      name: `${isWeekly ? 'week of ' : ''}${from.toISOString().slice(0, 10)}`,
    };
  });
}

const lookedUp = (period: Period): number => period.hit + period.tuned + period.default;
const rateOf = (period: Period): number => (lookedUp(period) === 0 ? NaN : period.hit / lookedUp(period));
const middleOf = ({ from, until }: Period): Date => new Date((from.getTime() + until.getTime()) / 2);

/** Both charts share one axis of time. */
const timeOf = (periods: readonly Period[]): NonNullable<PlotOptions['x']> => ({
  ...{ type: 'utc', label: null, domain: [periods[0]!.from, periods.at(-1)!.until] },
});
const MARGINS = { marginLeft: 46, marginRight: 40, marginTop: 24, marginBottom: 38 };

const COLUMNS = [
  { title: 'Day, UTC', value: ({ name }: Period) => name },
  { title: 'Compiles', value: ({ compiles }: Period) => compiles },
  ...OUTCOMES.map(({ key, name }) => ({ title: name, value: (period: Period) => period[key] })),
  {
    title: 'Hit rate',
    value: rateOf,
    show: (period: Period) => (Number.isNaN(rateOf(period)) ? '–' : `${(100 * rateOf(period)).toFixed(0)}%`),
  },
];

function drawRate(host: HTMLElement, periods: readonly Period[]): void {
  const chart = figure<Period>({
    title: 'Hit rate',
    note: 'Share of the operations with a record.',
    table: { caption: 'Builds by day', sortedBy: [0, true], columns: COLUMNS },
  });
  host.append(chart.element);
  const known = periods.filter((period) => lookedUp(period) > 0);
  const last = known.at(-1);
  chart.draw(
    (width) =>
      last === undefined
        ? null
        : {
            ...{ height: 180, ...MARGINS },
            x: timeOf(periods),
            y: { domain: [0, 1], label: null },
            marks: [
              gridY([0, 0.5, 1], { stroke: COLOURS.grid, strokeOpacity: 1 }),
              axisY([0, 0.5, 1], { tickSize: 0, tickFormat: '.0%' }),
              axisX({ tickSize: 0, ticks: width / 110 }),
              areaY(known, { x: middleOf, y: rateOf, fill: COLOURS.tuned, fillOpacity: 0.12 }),
              line(known, {
                x: middleOf,
                y: rateOf,
                stroke: COLOURS.tuned,
                strokeWidth: 2,
                marker: known.length < 40 ? 'circle' : 'none',
              }),
              text([last], {
                ...{ x: middleOf, y: rateOf, dx: 8, textAnchor: 'start', fontWeight: 600, fill: COLOURS.ink },
                text: (period: Period) => `${(100 * rateOf(period)).toFixed(0)}%`,
              }),
            ],
          },
    last === undefined
      ? 'No operation was looked up.'
      : `Hit rate, last ${(100 * rateOf(last)).toFixed(0)}% on ${last.name}.`,
    periods,
  );
}

function drawOutcomes(host: HTMLElement, periods: readonly Period[]): void {
  const bars = periods.flatMap((period) => {
    let below = 0;
    return OUTCOMES.map(({ key, colour }) => {
      const bar = { period, colour, y1: below, y2: below + period[key] };
      below = bar.y2;
      return bar;
    });
  });
  const chart = figure<Period>({
    title: 'Operations by outcome',
    note: '',
    table: { caption: 'Operations by day', sortedBy: [0, true], columns: COLUMNS },
  });
  chart.element.querySelector('figcaption')!.append(legend(OUTCOMES));
  host.append(chart.element);
  chart.draw(
    (width) => ({
      ...{ height: 200, ...MARGINS },
      x: timeOf(periods),
      y: { label: null, nice: true },
      marks: [
        gridY({ ticks: 3, stroke: COLOURS.grid, strokeOpacity: 1 }),
        axisY({ ticks: 3, tickSize: 0, tickFormat: countText }),
        axisX({ tickSize: 0, ticks: width / 110 }),
        rectY(bars, {
          ...{
            x1: ({ period }: (typeof bars)[number]) => period.from,
            x2: ({ period }: (typeof bars)[number]) => period.until,
          },
          ...{ y1: 'y1', y2: 'y2', insetLeft: 0.5, insetRight: 0.5, fill: 'colour' },
        }),
        ruleY([0], { stroke: COLOURS.muted }),
      ],
      color: { type: 'identity' },
    }),
    `Operations of ${counted(periods.length, 'period')}: ${OUTCOMES.map(({ key, name }) => `${countText(periods.reduce((sum, period) => sum + period[key], 0))} ${name}`).join(', ')}.`,
    periods,
  );
}

interface Reason {
  readonly what: string;
  readonly reason: string;
  readonly count: number;
  readonly byPeriod: readonly number[];
}

function drawReasons(
  host: HTMLElement,
  periods: readonly Period[],
  totals: Readonly<Record<string, Readonly<Record<string, number>>>>,
): void {
  const reasons = Object.entries(totals).flatMap(([group, counts]) =>
    Object.entries(counts).map(([reason, count]): Reason => ({
      ...{ what: WHAT[group] ?? group, reason, count },
      byPeriod: periods.map((period) => period.reasons[`${group}: ${reason}`] ?? 0),
    })),
  );
  if (reasons.length === 0) return;
  const table = sortableTable<Reason>({
    caption: 'Why compiles and operations were not tuned',
    sortedBy: [2, true],
    perPage: 12,
    columns: [
      { title: 'Reason', value: ({ reason }) => reason, isLong: true },
      { title: 'Of what', value: ({ what }) => what, isMinor: true },
      { title: 'In all', value: ({ count }) => count, show: ({ count }) => countText(count) },
      ...(periods.length < 2
        ? []
        : [
            {
              title: 'Over time',
              value: ({ byPeriod }: Reason) => byPeriod.at(-1)!,
              show: ({ byPeriod }: Reason) => sparkline(byPeriod, periods),
              isMinor: true,
            },
          ]),
    ],
  });
  table.show(reasons);
  host.append(element('h3', {}, 'Why not'), table.element);
}

/** Small bars, one for each period. */
function sparkline(values: readonly number[], periods: readonly Period[]): Element {
  const most = Math.max(1, ...values);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const set = (target: Element, attributes: Record<string, string | number>) => {
    for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, String(value));
  };
  set(svg, {
    viewBox: `0 0 ${values.length} 20`,
    width: 120,
    height: 20,
    preserveAspectRatio: 'none',
    role: 'img',
  });
  set(svg, {
    'aria-label': `${values.at(-1)!} in ${periods.at(-1)!.name}, at most ${most}`,
    class: 'sparkline',
  });
  for (const [i, value] of values.entries()) {
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    const height = (19 * value) / most + (value > 0 ? 1 : 0);
    set(bar, { x: i + 0.1, y: 20 - height, width: 0.8, height });
    svg.append(bar);
  }
  return svg;
}
