// Gains of all records on one axis, by group.
import { axisX, dot, gridX, rect, ruleX, text, type Markish, type PlotOptions } from '@observablehq/plot';
import { gainText } from '../numbers.ts';
import { counted, countText } from '../../../system/format.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import type { Drawing } from './page.ts';
import type { Row } from './rows.ts';
import { clipped, COLOURS, meanRatio, ratioDomain, ratioTick, ratioTicks } from './scales.ts';

interface Group {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly faster: number;
  readonly mean: number;
  readonly best: Row;
}

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
  const { label } = choice(
    'By',
    Object.keys(GROUPINGS).map((name) => [name, name]),
    (name) => {
      grouping = name;
      update();
    },
  );
  const chart = figure<Group>({
    title: 'Gain of each record',
    note: 'Time of the default over tuned time, on a logarithmic axis. A dot is a record, a hollow dot keeps the default, the black bar is the geometric mean of the group. Columns count the records of a large group.',
    table: {
      caption: 'Gains by group',
      sortedBy: [3, true],
      columns: [
        { title: 'Group', value: ({ name }) => name, isLong: true },
        { title: 'Records', value: ({ rows }) => rows.length },
        { title: 'Faster', value: ({ faster }) => faster },
        { title: 'Geometric mean', value: ({ mean }) => mean, show: ({ mean }) => gainText(mean) },
        { title: 'Largest', value: ({ best }) => best.ratio, show: ({ best }) => gainText(best.ratio) },
        { title: 'Shape of the largest', value: ({ best }) => best.shape, isMinor: true },
      ],
    },
  });
  host.append(element('div', { class: 'controls' }, label), chart.element);

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

function groupsOf(rows: readonly Row[], by: (row: Row) => string): Group[] {
  return [...Map.groupBy(rows, by)]
    .map(([name, own]): Group => ({
      ...{ name: name === '' ? 'unknown' : name, rows: own },
      faster: own.filter(({ outcome }) => outcome === 'faster').length,
      mean: meanRatio(own.map(gainOf)),
      best: own.reduce((best, row) => (gainOf(row) > gainOf(best) ? row : best)),
    }))
    .sort((a, b) => b.mean - a.mean);
}

const gainOf = (row: Row): number => (row.outcome === 'faster' ? row.ratio : 1);

const ROW = 62;

/** A line of text for each group, with a strip of dots below it. */
function chartOf(groups: readonly Group[], width: number): PlotOptions | null {
  if (groups.length === 0) return null;
  const domain = ratioDomain(groups.flatMap(({ rows }) => rows.map(gainOf)));
  const height = groups.length * ROW + 44;
  const ticks = ratioTicks(domain, width);
  const labels = groups.map((group, g) => ({ ...group, y: g + 0.14 }));
  const wide = width > 560;
  const isDense = groups.reduce((sum, { rows }) => sum + rows.length, 0) > MOST_DOTS;
  const halo = { fill: COLOURS.ink, stroke: COLOURS.paper, strokeWidth: 3 };
  return {
    ...{ height, marginTop: 4, marginBottom: 40, marginLeft: 8, marginRight: 20 },
    x: { type: 'log', domain, label: null },
    y: { domain: [0, groups.length], axis: null, reverse: true },
    color: { type: 'identity' },
    marks: [
      gridX(ticks, { stroke: COLOURS.grid, strokeOpacity: 1 }),
      axisX(ticks, {
        text: ratioTick,
        tickSize: 0,
        label: 'times as fast as the default  →',
        labelArrow: 'none',
      }),
      ruleX([1], { stroke: COLOURS.muted }),
      ...(isDense ? columnsOf(groups, domain, width) : dotsOf(groups, domain, width)),
      ...labels.map(({ mean, y }) =>
        ruleX([mean], { y1: y + 0.24, y2: y + 0.8, stroke: COLOURS.ink, strokeWidth: 3 }),
      ),
      text(labels, {
        ...{ y: 'y', frameAnchor: 'left', textAnchor: 'start', dx: -6, fontWeight: 600, ...halo },
        text: ({ name }: Group) => clipped(name, wide ? 60 : 28),
      }),
      text(labels, {
        ...{ y: 'y', frameAnchor: 'right', textAnchor: 'end', dx: 18, ...halo },
        text: ({ mean, faster, rows }: Group) =>
          `${gainText(mean)}${wide ? ' in the mean' : ''}, ${countText(faster)}${wide ? ' of ' : '/'}${countText(rows.length)}${wide ? ' faster' : ''}`,
      }),
    ],
  };
}

/** Larger groups are drawn as columns. */
const MOST_DOTS = 400;

/** Width of a dot or column in pixels. */
const STEP = 5;

/** Number of the column of a gain. */
const columnOf = (gain: number, [low, high]: readonly [number, number], width: number): number =>
  Math.round((Math.log(gain / low) / Math.log(high / low)) * (width / STEP));

const isFaster = ({ outcome }: Row): boolean => outcome === 'faster';

/** Dots that would overlap are stacked, up to a limit. */
function dotsOf(groups: readonly Group[], domain: readonly [number, number], width: number): Markish[] {
  const offsets = [0, 1, -1, 2, -2, 3, -3];
  const dots = groups.flatMap(({ rows }, g) =>
    [...Map.groupBy(rows, (row) => columnOf(gainOf(row), domain, width)).values()].flatMap((own) =>
      own
        .slice(0, offsets.length)
        .map((row, i) => ({ row, x: gainOf(row), y: g + 0.65 + offsets[i]! * 0.085 })),
    ),
  );
  return [
    dot(
      dots.filter(({ row }) => !isFaster(row)),
      { x: 'x', y: 'y', r: 2.6, stroke: COLOURS.plain, strokeWidth: 1 },
    ),
    dot(
      dots.filter(({ row }) => isFaster(row)),
      {
        ...{ x: 'x', y: 'y', r: 3.2, fill: COLOURS.tuned, fillOpacity: 0.75 },
        ...{
          title: ({ row }: { row: Row }) => `${row.shape}: ${gainText(row.ratio)}\n${row.configuration}`,
          tip: true,
        },
      },
    ),
  ];
}

/** Histogram of the gains of each group, at its own scale. The column of the default may be cut off. */
function columnsOf(groups: readonly Group[], domain: readonly [number, number], width: number): Markish[] {
  const [low, high] = domain;
  const edge = (column: number) => low * (high / low) ** ((column * STEP) / width);
  const columns = groups.flatMap(({ rows }, g) => {
    const own = [
      ...Map.groupBy(rows, (row) => `${isFaster(row)} ${columnOf(gainOf(row), domain, width)}`).values(),
    ];
    const most = Math.max(1, ...own.filter(([row]) => isFaster(row!)).map(({ length }) => length));
    return own.map((some) => {
      const column = columnOf(gainOf(some[0]!), domain, width);
      return {
        ...{ x1: edge(column - 0.5), x2: edge(column + 0.5), y2: g + 0.97 },
        y1: g + 0.97 - 0.66 * Math.min(1, some.length / most),
        colour: isFaster(some[0]!) ? COLOURS.tuned : COLOURS.plain,
      };
    });
  });
  return [rect(columns, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', fill: 'colour', insetRight: 0.5 })];
}
