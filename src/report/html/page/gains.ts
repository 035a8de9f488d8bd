// Gains of all records on one axis, by group.
import { dot, rect, ruleX, type Markish, type PlotOptions } from '@observablehq/plot';
import { geometricMean, sumOf } from '../../../measure/statistics.ts';
import { counted, countText } from '../../../system/format.ts';
import { gainText } from '../numbers.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import { ratioRows, rowText } from './marks.ts';
import type { Drawing, Row } from './rows.ts';
import { along, clipped, COLOURS, ratioDomain, type Range } from './scales.ts';

const GROUPINGS: Readonly<Record<string, (row: Row) => string>> = {
  'kind of shape': ({ shapeClass }) => shapeClass,
  'element types': ({ types }) => types,
  'kind of configuration': ({ kind }) => kind,
  device: ({ device }) => device,
  compiler: ({ place }) => place.compiler,
};

/** Most groups of the chart. The table has all groups. */
const MOST_GROUPS = 10;

export const drawGains: Drawing = (host) => {
  let grouping = 'kind of shape';
  let shown: readonly Row[] = [];
  const names = Object.keys(GROUPINGS).map((name) => [name, name] as const);
  const { label } = choice('By', names, (name) => {
    grouping = name;
    update();
  });
  host.append(element('div', { class: 'controls' }, label));
  const chart = figure<Group>(host, {
    title: 'Gain of each record',
    note: 'Time of the default over tuned time, on a logarithmic axis. A dot is a record, a hollow dot keeps the default, the black bar is the geometric mean of the group. Columns count the records of a large group.',
    caption: 'Gains by group',
    sortedBy: [3, true],
    columns: [
      { title: 'Group', value: ({ name }) => name, isLong: true },
      { title: 'Records', value: ({ rows }) => rows.length },
      { title: 'Faster', value: ({ faster }) => faster },
      { title: 'Geometric mean', value: ({ mean }) => mean, format: gainText },
      { title: 'Largest', value: ({ best }) => best.ratio, format: gainText },
      { title: 'Shape of the largest', value: ({ best }) => best.shape, isMinor: true },
    ],
  });

  function update(): void {
    const groups = groupsOf(shown, GROUPINGS[grouping]!);
    const said = groups
      .slice(0, 3)
      .map(({ name, mean, rows }) => `${name}: ${gainText(mean)} over ${counted(rows.length, 'record')}`);
    chart.draw(
      (width) => chartOf(groups.slice(0, MOST_GROUPS), width),
      `Gains of ${counted(shown.length, 'record')} by ${grouping}. ${said.join('; ')}.`,
      groups,
    );
  }
  return (rows) => {
    shown = rows.filter(({ failure }) => failure === null);
    update();
  };
};

type Group = ReturnType<typeof groupsOf>[number];

const groupsOf = (rows: readonly Row[], by: (row: Row) => string) =>
  [...Map.groupBy(rows, by)]
    .map(([name, own]) => ({
      ...{ name: name === '' ? 'unknown' : name, rows: own },
      faster: own.filter(isFaster).length,
      mean: geometricMean(own.map(gainOf)),
      best: own.reduce((best, row) => (gainOf(row) > gainOf(best) ? row : best)),
    }))
    .sort((a, b) => b.mean - a.mean);

const isFaster = ({ outcome }: Row): boolean => outcome === 'faster';

const gainOf = (row: Row): number => (isFaster(row) ? row.ratio : 1);

/** A line of text for each group, with a strip of dots below it. */
function chartOf(groups: readonly Group[], width: number): PlotOptions | null {
  if (groups.length === 0) return null;
  const domain = ratioDomain(groups.flatMap(({ rows }) => rows.map(gainOf)));
  const labels = groups.map((group, g) => ({ ...group, y: g + 0.14 }));
  const wide = width > 560;
  const isDense = sumOf(groups.map(({ rows }) => rows.length)) > MOST_DOTS;
  return ratioRows(
    { count: groups.length, rowHeight: 62, width, domain, label: 'times as fast as the default  →' },
    ...(isDense ? columnsOf(groups, domain, width) : dotsOf(groups, domain, width)),
    ...labels.map(({ mean, y }) =>
      ruleX([mean], { y1: y + 0.24, y2: y + 0.8, stroke: COLOURS.ink, strokeWidth: 3 }),
    ),
    rowText('left', labels, { fontWeight: 600, text: ({ name }: Group) => clipped(name, wide ? 60 : 28) }),
    rowText('right', labels, {
      text: ({ mean, faster, rows }: Group) =>
        wide
          ? `${gainText(mean)} in the mean, ${countText(faster)} of ${countText(rows.length)} faster`
          : `${gainText(mean)}, ${countText(faster)}/${countText(rows.length)}`,
    }),
  );
}

/** Larger groups are drawn as columns. */
const MOST_DOTS = 400;

/** Width of a dot or column in pixels. */
const STEP = 5;

/** Number of the column of a record. */
const columnOf = (row: Row, domain: Range, width: number): number =>
  Math.round(along(domain, gainOf(row)) * (width / STEP));

/** Dots that would overlap are stacked, up to a limit. */
function dotsOf(groups: readonly Group[], domain: Range, width: number): Markish[] {
  const offsets = [0, 1, -1, 2, -2, 3, -3];
  const dots = groups.flatMap(({ rows }, g) =>
    [...Map.groupBy(rows, (row) => columnOf(row, domain, width)).values()].flatMap((own) =>
      own
        .slice(0, offsets.length)
        .map((row, i) => ({ row, x: gainOf(row), y: g + 0.65 + offsets[i]! * 0.085 })),
    ),
  );
  const [kept, faster] = [false, true].map((wanted) => dots.filter(({ row }) => isFaster(row) === wanted));
  return [
    dot(kept, { x: 'x', y: 'y', r: 2.6, stroke: COLOURS.plain, strokeWidth: 1 }),
    dot(faster, {
      ...{ x: 'x', y: 'y', r: 3.2, fill: COLOURS.tuned, fillOpacity: 0.75, tip: true },
      title: ({ row }: { row: Row }) => `${row.shape}: ${gainText(row.ratio)}\n${row.configuration}`,
    }),
  ];
}

/** Histogram of the gains of each group, at its own scale. The column of the default may be cut off. */
function columnsOf(groups: readonly Group[], domain: Range, width: number): Markish[] {
  const [low, high] = domain;
  const edge = (column: number) => low * (high / low) ** ((column * STEP) / width);
  const columns = groups.flatMap(({ rows }, g) => {
    const own = [
      ...Map.groupBy(rows, (row) => `${isFaster(row)} ${columnOf(row, domain, width)}`).values(),
    ] as [Row, ...Row[]][];
    const most = Math.max(1, ...own.filter(([row]) => isFaster(row)).map(({ length }) => length));
    return own.map(([first, ...more]) => {
      const column = columnOf(first, domain, width);
      return {
        ...{ x1: edge(column - 0.5), x2: edge(column + 0.5), y2: g + 0.97 },
        y1: g + 0.97 - 0.66 * Math.min(1, (1 + more.length) / most),
        colour: isFaster(first) ? COLOURS.tuned : COLOURS.plain,
      };
    });
  });
  return [rect(columns, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', fill: 'colour', insetRight: 0.5 })];
}
