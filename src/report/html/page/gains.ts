// Gains of all records on one axis, by group.
import { dot, ruleX, type Markish, type PlotOptions } from '@observablehq/plot';
import { geometricMean } from '../../../measure/statistics.ts';
import { counted, countText } from '../../../system/format.ts';
import { gainText } from '../texts.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import { along, clipped, COLOURS, ratioDomain, ratioRows, rowText, type Range } from './marks.ts';
import type { Drawing, Row } from './rows.ts';

const GROUPINGS: Readonly<Record<string, (row: Row) => string>> = {
  'kind of shape': ({ shapeClass }) => shapeClass,
  'element types': ({ types }) => types,
  'kind of configuration': ({ kind }) => kind,
  device: ({ place }) => place.deviceName,
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
    note: 'Time of the default over tuned time, on a logarithmic axis. A dot is a record, a hollow dot keeps the default, the black bar is the geometric mean of the group. Equal gains are stacked.',
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
  return ratioRows(
    { count: groups.length, rowHeight: 62, width, domain, label: 'times as fast as the default  →' },
    ...dotsOf(groups, domain, width),
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

/** Width of a dot in pixels. */
const STEP = 5;

/** The height of a full stack, and the largest distance of its dots, as shares of a row. */
const [STACK, APART] = [0.6, 0.085];

/** A dot for each record. Dots that would overlap are stacked, closer together in a large group. */
function dotsOf(groups: readonly Group[], domain: Range, width: number): Markish[] {
  const columnOf = (row: Row) =>
    `${isFaster(row)} ${Math.round(along(domain, gainOf(row)) * (width / STEP))}`;
  const dots = groups.flatMap(({ rows }, g) => {
    const stacks = [...Map.groupBy(rows, columnOf).values()];
    const most = Math.max(...stacks.map((own) => own.filter(isFaster).length));
    const apart = Math.min(APART, STACK / most);
    // Defaults share one stack, which may be cut off.
    return stacks.flatMap((own) =>
      own.slice(0, STACK / apart).map((row, i) => ({ row, x: gainOf(row), y: g + 0.92 - i * apart })),
    );
  });
  const [kept, faster] = [false, true].map((wanted) => dots.filter(({ row }) => isFaster(row) === wanted));
  return [
    dot(kept, { x: 'x', y: 'y', r: 2.6, stroke: COLOURS.plain, strokeWidth: 1 }),
    dot(faster, {
      ...{ x: 'x', y: 'y', r: 3.2, fill: COLOURS.tuned, fillOpacity: 0.75, tip: true },
      title: ({ row }: { row: Row }) => `${row.shape}: ${gainText(row.ratio)}\n${row.configuration}`,
    }),
  ];
}
