// The best result so far of each search, with one search in front.
import { axisX, axisY, dot, gridY, line, text, type PlotOptions } from '@observablehq/plot';
import { sumOf } from '../../../measure/statistics.ts';
import { counted, formatDuration } from '../../../system/format.ts';
import type { SearchCurve } from '../data.ts';
import { gainText } from '../texts.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import { axis, COLOURS, GRID, HALO, ratioDomain, ratioTick, ratioTicks } from './marks.ts';
import type { Drawing, Row } from './rows.ts';

interface Search {
  readonly row: Row;
  readonly curve: SearchCurve;
  readonly tried: number;
  readonly failed: number;
  /** Number of the best trial; 0 if the default stayed best. */
  readonly foundAt: number;
  readonly best: number;
}

/** Most curves behind the selected one. More curves would be a grey area. */
const MOST_LINES = 250;

export const drawSearches: Drawing = (host, { data, rows: all }) => {
  const searches = data.searches.map((curve): Search => {
    const failed = sumOf(Object.values(curve.failed));
    const [foundAt, best] = curve.steps.at(-1) ?? [0, 1];
    return { row: all[curve.record]!, curve, tried: curve.measured + failed, failed, foundAt, best };
  });
  let shown: readonly Search[] = [];
  let chosen: Search | undefined;
  const { label, select } = choice('Search', [], (value) => {
    chosen = searches[Number(value)]!;
    update();
  });
  host.append(element('div', { class: 'controls' }, label));
  const chart = figure<Search>(host, {
    title: 'Best so far',
    note: 'Gain of the best configuration over the default after each trial, as screened. The final measurement decides, and may find a smaller gain.',
    caption: 'Searches',
    sortedBy: [4, true],
    columns: [
      { title: 'Shape', value: ({ row }) => row.shape },
      { title: 'Trials', value: ({ tried }) => tried },
      { title: 'Failed', value: ({ failed }) => failed, show: failuresText, isMinor: true },
      { title: 'Best at trial', value: ({ foundAt }) => foundAt || NaN },
      { title: 'Best seen', value: ({ best }) => best, format: gainText },
      {
        title: 'Decided',
        value: ({ row }) => row.ratio,
        show: ({ row }) => (row.outcome === 'faster' ? gainText(row.ratio) : row.outcome),
      },
      { title: 'Tuning', value: ({ row }) => row.tuningSeconds, format: formatDuration, isMinor: true },
      { title: 'Device', value: ({ row }) => row.place.deviceName, isMinor: true, isLong: true },
    ],
  });

  function update(): void {
    if (chosen === undefined || !shown.includes(chosen)) chosen = shown[0];
    select.value = chosen === undefined ? '' : String(searches.indexOf(chosen));
    const one = chosen;
    const said =
      one === undefined
        ? ''
        : ` In front: ${one.row.shape}, ${gainText(one.best)} at trial ${one.foundAt} of ${one.tried}.`;
    chart.draw(
      (width) => (one === undefined ? null : chartOf(shown, one, width)),
      `Best so far of ${counted(shown.length, 'search', 'searches')}.${said}`,
      shown,
    );
  }

  return (rows) => {
    const wanted = new Set(rows);
    shown = searches.filter(({ row }) => wanted.has(row)).sort((a, b) => b.best - a.best);
    const options = shown.map((search) => {
      const name = `${search.row.shape}: ${gainText(search.best)} in ${search.tried} trials`;
      return element('option', { value: searches.indexOf(search) }, name);
    });
    select.replaceChildren(...options);
    select.disabled = shown.length === 0;
    update();
  };
};

const failuresText = ({ curve, failed }: Search): string =>
  failed === 0
    ? '0'
    : Object.entries(curve.failed)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ');

const stepsOf = ({ curve, tried, best }: Search, search: number) => [
  { trial: 0, ratio: 1, search },
  ...curve.steps.map(([trial, ratio]) => ({ trial, ratio, search })),
  { trial: tried, ratio: best, search },
];

function chartOf(all: readonly Search[], one: Search, width: number): PlotOptions {
  const every = Math.ceil(all.length / MOST_LINES);
  const behind = all.filter((_, i) => i % every === 0);
  const domain = ratioDomain([...behind, one].map(({ best }) => best));
  const height = 340;
  const ticks = ratioTicks(domain, height * 1.8);
  const trials = Math.max(10, ...[...behind, one].map(({ tried }) => tried));
  const own = stepsOf(one, 0);
  const isLate = one.tried > trials * 0.6;
  const place = { x: 'trial', y: 'ratio' } as const;
  const step = { ...place, curve: 'step-after' } as const;
  return {
    ...{ height, marginLeft: 46, marginRight: 16, marginTop: 26, marginBottom: 42 },
    x: { domain: [0, trials], label: null },
    y: { type: 'log', domain, label: null },
    marks: [
      gridY(ticks, GRID),
      axisX({ ticks: width / 90, ...axis('trials  →') }),
      axisY(ticks, { text: ratioTick, ...axis('↑  times as fast as the default'), labelAnchor: 'top' }),
      line(behind.flatMap(stepsOf), {
        ...{ ...step, z: 'search', stroke: COLOURS.plain, strokeWidth: 1 },
        strokeOpacity: behind.length > 100 ? 0.22 : behind.length > 40 ? 0.45 : 0.7,
      }),
      line(own, { ...step, stroke: COLOURS.paper, strokeWidth: 5 }),
      line(own, { ...step, stroke: COLOURS.tuned, strokeWidth: 2.5 }),
      dot(own.slice(1, -1), { ...place, r: 3, fill: COLOURS.tuned }),
      text(own.slice(-1), {
        ...{ ...place, dy: -9, fontWeight: 600, textAnchor: isLate ? 'end' : 'start', ...HALO },
        text: () => `${one.row.shape}  ${gainText(one.best)}`,
      }),
    ],
  };
}
