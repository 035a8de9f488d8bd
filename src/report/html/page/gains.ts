// Gains of all records on one axis, by group.
import { axisX, dot, gridX, ruleX, text, type PlotOptions } from '@observablehq/plot';
import { geometricMean } from '../../../measure/statistics.ts';
import { counted, countText } from '../../../system/format.ts';
import { gainText } from '../texts.ts';
import { choice, element } from './dom.ts';
import { axis, COLOURS, figure, GRID, HALO, ratioDomain, ratioTick, ratioTicks } from './figure.ts';
import type { Drawing, Row } from './rows.ts';
import { sortableTable } from './table.ts';

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
  const label = choice('By', names, (name) => {
    grouping = name;
    update();
  });
  host.append(element('div', { class: 'controls' }, label));
  const draw = figure(
    host,
    'Gain of each record',
    'Time of the default over tuned time, on a logarithmic axis. A dot is a record, a hollow dot keeps the default, the black bar is the geometric mean of the group. The height of a dot in its group has no meaning.',
  );
  const table = sortableTable<Group>({
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
  host.append(table.element);

  function update(): void {
    const groups = groupsOf(shown, GROUPINGS[grouping]!);
    const said = groups
      .slice(0, 3)
      .map(({ name, mean, rows }) => `${name}: ${gainText(mean)} over ${counted(rows.length, 'record')}`);
    draw(
      (width) => chartOf(groups.slice(0, MOST_GROUPS), width),
      `Gains of ${counted(shown.length, 'record')} by ${grouping}. ${said.join('; ')}.`,
    );
    table.show(groups);
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

/** Height of a group in pixels. */
const ROW = 62;

/** The golden ratio spreads the dots of a group evenly, so that equal gains stay visible. */
const SPREAD = 0.618;

/** A line of text for each group, with a strip of dots below it. Group `i` has the `y` from `i` to `i + 1`. */
function chartOf(groups: readonly Group[], width: number): PlotOptions | null {
  if (groups.length === 0) return null;
  const dots = groups.flatMap(({ rows }, g) =>
    rows.map((row, i) => ({ row, gain: gainOf(row), y: g + 0.4 + 0.5 * ((i * SPREAD) % 1) })),
  );
  const domain = ratioDomain(dots.map(({ gain }) => gain));
  const ticks = ratioTicks(domain, width);
  const at = { x: 'gain', y: 'y' } as const;
  const line = { y: (_: Group, i: number) => i + 0.14, ...HALO } as const;
  return {
    ...{ height: groups.length * ROW + 44, marginTop: 4, marginBottom: 40, marginLeft: 8, marginRight: 20 },
    x: { type: 'log', domain, label: null },
    y: { domain: [0, groups.length], axis: null, reverse: true },
    marks: [
      gridX(ticks, GRID),
      axisX(ticks, { text: ratioTick, ...axis('times as fast as the default  →') }),
      ruleX([1], { stroke: COLOURS.muted }),
      dot(
        dots.filter(({ row }) => !isFaster(row)),
        { ...at, r: 2.6, stroke: COLOURS.plain, strokeWidth: 1 },
      ),
      dot(
        dots.filter(({ row }) => isFaster(row)),
        {
          ...{ ...at, r: 3.2, fill: COLOURS.tuned, fillOpacity: 0.75, tip: true },
          title: ({ row }: (typeof dots)[number]) =>
            `${row.shape}: ${gainText(row.ratio)}\n${row.configuration}`,
        },
      ),
      ruleX(groups, {
        ...{ x: 'mean', y1: (_, i) => i + 0.38, y2: (_, i) => i + 0.94 },
        ...{ stroke: COLOURS.ink, strokeWidth: 3 },
      }),
      text(groups, {
        ...{ ...line, frameAnchor: 'left', textAnchor: 'start', dx: -6, fontWeight: 600 },
        text: ({ name }: Group) => clipped(name, Math.floor(width / 13)),
      }),
      text(groups, {
        ...{ ...line, frameAnchor: 'right', textAnchor: 'end', dx: 18 },
        text: ({ mean, faster, rows }: Group) =>
          `${gainText(mean)}, ${countText(faster)} of ${countText(rows.length)} faster`,
      }),
    ],
  };
}

/** A text for a chart. A long text loses its middle. */
const clipped = (text: string, longest: number): string =>
  text.length <= longest
    ? text
    : `${text.slice(0, Math.ceil(longest * 0.6))}…${text.slice(-Math.floor(longest * 0.3))}`;
