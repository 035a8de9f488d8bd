// Hit rates of builds by day, and the reasons for untuned operations.
import {
  areaY,
  axisX,
  axisY,
  gridY,
  line,
  plot,
  rectY,
  ruleY,
  text,
  type PlotOptions,
} from '@observablehq/plot';
import { sumOf } from '../../../measure/statistics.ts';
import { counted, countText } from '../../../system/format.ts';
import type { DayStatistics, Statistics } from '../../statistics.ts';
import { percentText } from '../numbers.ts';
import { element } from './dom.ts';
import { figure } from './figure.ts';
import { GRID } from './marks.ts';
import type { Drawing } from './rows.ts';
import { COLOURS } from './scales.ts';
import { sortableTable } from './table.ts';

const DAY_MS = 24 * 3600 * 1000;

/** A longer history is drawn by weeks. */
const MOST_DAYS = 120;

const OUTCOMES = [
  { key: 'hit', name: 'found', colour: COLOURS.tuned },
  { key: 'tuned', name: 'tuned in the build', colour: COLOURS.packed },
  { key: 'default', name: 'left to the default', colour: COLOURS.plain },
] as const;

const WHAT: Readonly<Record<keyof Statistics['reasons'], string>> = {
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
};

type Period = ReturnType<typeof periodsOf>[number];

/** The days, or the weeks of a long history. */
function periodsOf(history: readonly DayStatistics[]) {
  const timeOf = ({ day }: DayStatistics) => Date.parse(`${day}T00:00:00Z`);
  const [first, last] = [history[0], history.at(-1)].map((day) => (day === undefined ? 0 : timeOf(day)));
  const isWeekly = (last! - first!) / DAY_MS > MOST_DAYS;
  const length = DAY_MS * (isWeekly ? 7 : 1);
  const groups = Map.groupBy(history, (day) => Math.floor((timeOf(day) - first!) / length));
  return [...groups].map(([number, days]) => {
    const from = new Date(first! + number * length);
    const name = `${isWeekly ? 'week of ' : ''}${from.toISOString().slice(0, 10)}`;
    const until = new Date(from.getTime() + length);
    return { from, until, name, days: days.map(({ statistics }) => statistics) };
  });
}

const countOf = ({ days }: Period, key: (typeof OUTCOMES)[number]['key']): number =>
  sumOf(days.map(({ operations }) => operations[key]));
const lookedUp = (period: Period): number => sumOf(OUTCOMES.map(({ key }) => countOf(period, key)));
/** NaN without an operation. */
const rateOf = (period: Period): number => countOf(period, 'hit') / lookedUp(period);
const middleOf = ({ from, until }: Period): Date => new Date((from.getTime() + until.getTime()) / 2);

/** Options of a chart over time. All such charts have the same axis. */
const overTime = (periods: readonly Period[], width: number, { marks = [], ...own }: PlotOptions) => ({
  ...{ marginLeft: 46, marginRight: 40, marginTop: 24, marginBottom: 38 },
  x: { type: 'utc', label: null, domain: [periods[0]!.from, periods.at(-1)!.until] } as const,
  color: { type: 'identity' } as const,
  ...own,
  marks: [axisX({ tickSize: 0, ticks: width / 110 }), ...marks],
});

const TABLE = {
  sortedBy: [0, true],
  columns: [
    { title: 'Day, UTC', value: ({ name }: Period) => name },
    { title: 'Compiles', value: ({ days }: Period) => sumOf(days.map(({ compiles }) => compiles.all)) },
    ...OUTCOMES.map(({ key, name }) => ({ title: name, value: (period: Period) => countOf(period, key) })),
    { title: 'Hit rate', value: rateOf, format: percentText },
  ],
} as const;

function drawRate(host: HTMLElement, periods: readonly Period[]): void {
  const known = periods.filter((period) => lookedUp(period) > 0);
  const last = known.at(-1);
  const place = { x: middleOf, y: rateOf };
  const marks = [
    gridY([0, 0.5, 1], GRID),
    axisY([0, 0.5, 1], { tickSize: 0, tickFormat: '.0%' }),
    areaY(known, { ...place, fill: COLOURS.tuned, fillOpacity: 0.12 }),
    line(known, {
      ...{ ...place, stroke: COLOURS.tuned, strokeWidth: 2 },
      marker: known.length < 40 ? 'circle' : 'none',
    }),
    text(known.slice(-1), {
      ...{ ...place, dx: 8, textAnchor: 'start', fontWeight: 600, fill: COLOURS.ink },
      text: (period: Period) => percentText(rateOf(period)),
    }),
  ];
  figure<Period>(host, {
    title: 'Hit rate',
    note: 'Share of the operations with a record.',
    ...{ ...TABLE, caption: 'Builds by day' },
  }).draw(
    (width) =>
      last === undefined
        ? null
        : overTime(periods, width, { height: 180, y: { domain: [0, 1], label: null }, marks }),
    last === undefined
      ? 'No operation was looked up.'
      : `Hit rate, last ${percentText(rateOf(last))} on ${last.name}.`,
    periods,
  );
}

function drawOutcomes(host: HTMLElement, periods: readonly Period[]): void {
  const bars = periods.flatMap((period) => {
    let below = 0;
    return OUTCOMES.map(({ key, colour }) => {
      const bar = { x1: period.from, x2: period.until, colour, y1: below, y2: below + countOf(period, key) };
      below = bar.y2;
      return bar;
    });
  });
  const totals = OUTCOMES.map(({ key, name }) => {
    const total = sumOf(periods.map((period) => countOf(period, key)));
    return `${countText(total)} ${name}`;
  });
  const marks = [
    gridY({ ticks: 3, ...GRID }),
    axisY({ ticks: 3, tickSize: 0, tickFormat: countText }),
    rectY(bars, {
      ...{ x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', insetLeft: 0.5, insetRight: 0.5, fill: 'colour' },
    }),
    ruleY([0], { stroke: COLOURS.muted }),
  ];
  figure<Period>(host, {
    ...{ title: 'Operations by outcome', note: '', legend: OUTCOMES },
    ...{ ...TABLE, caption: 'Operations by day' },
  }).draw(
    (width) => overTime(periods, width, { height: 200, y: { label: null, nice: true }, marks }),
    `Operations of ${counted(periods.length, 'period')}: ${totals.join(', ')}.`,
    periods,
  );
}

interface ReasonRow {
  readonly what: string;
  readonly reason: string;
  readonly count: number;
  readonly byPeriod: readonly number[];
}

function drawReasons(host: HTMLElement, periods: readonly Period[], totals: Statistics['reasons']): void {
  const groups = Object.entries(WHAT) as [keyof typeof WHAT, string][];
  const reasons = groups.flatMap(([group, what]) =>
    Object.entries(totals[group]).map(([reason, count]): ReasonRow => ({
      ...{ what, reason, count },
      byPeriod: periods.map(({ days }) => sumOf(days.map(({ reasons }) => reasons[group][reason] ?? 0))),
    })),
  );
  if (reasons.length === 0) return;
  const trend = {
    ...{ title: 'Over time', isMinor: true, value: ({ byPeriod }: ReasonRow) => byPeriod.at(-1)! },
    show: ({ byPeriod }: ReasonRow) => sparkline(byPeriod, periods),
  };
  const table = sortableTable<ReasonRow>({
    caption: 'Why compiles and operations were not tuned',
    ...{ sortedBy: [2, true], perPage: 12 },
    columns: [
      { title: 'Reason', value: ({ reason }) => reason, isLong: true },
      { title: 'Of what', value: ({ what }) => what, isMinor: true },
      { title: 'In all', value: ({ count }) => count },
      ...(periods.length < 2 ? [] : [trend]),
    ],
  });
  table.show(reasons);
  host.append(element('h3', {}, 'Why not'), table.element);
}

/** Small bars, one for each period. */
function sparkline(values: readonly number[], periods: readonly Period[]): Element {
  const most = Math.max(1, ...values);
  const bars = values.map((value, i) => ({
    ...{ x1: i + 0.1, x2: i + 0.9, y2: (19 * value) / most + (value > 0 ? 1 : 0) },
  }));
  const svg = plot({
    ...{ width: 120, height: 20, margin: 0, axis: null, className: 'sparkline' },
    ...{ x: { domain: [0, values.length] }, y: { domain: [0, 20] } },
    marks: [rectY(bars, { x1: 'x1', x2: 'x2', y1: 0, y2: 'y2', fill: COLOURS.tuned, ariaHidden: 'true' })],
    ariaLabel: `${values.at(-1)!} in ${periods.at(-1)!.name}, at most ${most}`,
  });
  svg.setAttribute('role', 'img');
  return svg;
}
