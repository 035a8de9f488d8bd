// The same workloads by two compilers: changes of the default and of the tuned time.
import { axisX, dot, gridX, link, ruleX, text, type PlotOptions } from '@observablehq/plot';
import { counted, formatSeconds } from '../../../system/format.ts';
import { element } from './dom.ts';
import { figure } from './figure.ts';
import type { Drawing } from './page.ts';
import type { Row } from './rows.ts';
import { clipped, COLOURS, meanRatio, ratioDomain, ratioTick, ratioTicks } from './scales.ts';
import { sortableTable } from './table.ts';

interface Change {
  readonly before: Row;
  readonly after: Row;
  /** Time with the new compiler over time with the old one: above 1 is slower. */
  readonly asDefault: number;
  readonly asTuned: number;
}

/** Smaller changes are differences between two days. */
const LEAST = 1.05;

/** Most rows of the chart. The table has all rows. */
const MOST = 12;

export const drawDrift: Drawing = (host, { data, rows }) => {
  const changes = data.drift
    .map(({ before: b, after: a }): Change => {
      const [before, after] = [rows[b]!, rows[a]!];
      return { before, after, asDefault: after.before / before.before, asTuned: after.after / before.after };
    })
    .sort((a, b) => b.asTuned - a.asTuned);
  drawSummary(host, changes);
  const chart = figure<Change>({
    title: 'Largest changes',
    note: `Time with the newer compiler over time with the older one, on a logarithmic axis. The ring is the default, the dot is tuned. ${counted(changes.filter(isWorse).length, 'record')} more than 5% slower when tuned.`,
    table: {
      caption: 'Changes between compilers',
      sortedBy: [4, true],
      columns: [
        { title: 'Shape', value: ({ after }) => after.shape },
        { title: 'From', value: ({ before }) => before.place.compiler, isMinor: true, isLong: true },
        { title: 'To', value: ({ after }) => after.place.compiler, isLong: true },
        {
          title: 'Default',
          value: ({ asDefault }) => asDefault,
          show: ({ asDefault }) => changeText(asDefault),
        },
        { title: 'As tuned', value: ({ asTuned }) => asTuned, show: ({ asTuned }) => changeText(asTuned) },
        {
          title: 'Tuned before',
          value: ({ before }) => before.after,
          show: ({ before }) => formatSeconds(before.after),
          isMinor: true,
        },
        {
          title: 'Tuned now',
          value: ({ after }) => after.after,
          show: ({ after }) => formatSeconds(after.after),
          isMinor: true,
        },
        { title: 'Configuration', value: (change) => configurationText(change), isMinor: true, isLong: true },
      ],
    },
  });
  host.append(chart.element);
  const changed = changes.filter(({ asDefault, asTuned }) => [asDefault, asTuned].some(isChange));
  const shown = (changed.length > 0 ? changed : changes)
    .toSorted((a, b) => Math.abs(Math.log(b.asTuned)) - Math.abs(Math.log(a.asTuned)))
    .slice(0, MOST)
    .sort((a, b) => b.asTuned - a.asTuned);
  chart.draw(
    (width) => chartOf(shown, width),
    `Changes: ${shown.map(({ after, asTuned }) => `${after.shape} ${changeText(asTuned)}`).join(', ')}.`,
    changes,
  );
  return () => undefined;
};

const isChange = (ratio: number): boolean => ratio > LEAST || ratio < 1 / LEAST;

const isWorse = ({ asTuned }: Change): boolean => asTuned > LEAST;

/** `12% slower`, `3.1× as long`, `about the same`. */
function changeText(ratio: number): string {
  if (ratio >= 2) return `${ratio.toFixed(1)}× as long`;
  if (ratio > LEAST) return `${(100 * (ratio - 1)).toFixed(0)}% slower`;
  if (ratio >= 1 / LEAST) return 'about the same';
  return ratio <= 0.5 ? `${(1 / ratio).toFixed(1)}× as fast` : `${(100 * (1 - ratio)).toFixed(0)}% less time`;
}

const configurationText = ({ before, after }: Change): string =>
  before.configuration === after.configuration ? 'the same' : `was ${before.configuration}`;

interface Step {
  readonly from: string;
  readonly to: string;
  readonly changes: readonly Change[];
}

function drawSummary(host: HTMLElement, changes: readonly Change[]): void {
  const groups = Map.groupBy(changes, ({ before, after }) =>
    JSON.stringify([before.place.compiler, after.place.compiler]),
  );
  const steps = [...groups.values()].map((own): Step => ({
    ...{ from: own[0]!.before.place.compiler, to: own[0]!.after.place.compiler, changes: own },
  }));
  const mean = ({ changes: own }: Step, of: (change: Change) => number) => meanRatio(own.map(of));
  const table = sortableTable<Step>({
    caption: 'Compared compilers',
    sortedBy: [2, true],
    perPage: 10,
    columns: [
      { title: 'From', value: ({ from }) => from, isLong: true },
      { title: 'To', value: ({ to }) => to, isLong: true },
      { title: 'Compared', value: (step) => step.changes.length, isMinor: true },
      {
        title: 'Defaults, mean',
        isMinor: true,
        value: (step) => mean(step, ({ asDefault }) => asDefault),
        show: (step) => changeText(mean(step, ({ asDefault }) => asDefault)),
      },
      {
        title: 'Tuned, mean',
        value: (step) => mean(step, ({ asTuned }) => asTuned),
        show: (step) => changeText(mean(step, ({ asTuned }) => asTuned)),
      },
      { title: 'Slower when tuned', value: (step) => step.changes.filter(isWorse).length },
    ],
  });
  table.show(steps);
  host.append(element('div', { class: 'summary' }, table.element));
}

const ROW = 40;

function chartOf(changes: readonly Change[], width: number): PlotOptions {
  const shown = changes.map((change, i) => ({
    ...{ ...change, y: i, colour: isWorse(change) ? COLOURS.worse : COLOURS.tuned },
    name: clipped(`${change.after.shape}  ${change.after.device}`, width > 560 ? 70 : 30),
    note: changeText(change.asTuned),
  }));
  const domain = ratioDomain(
    shown.flatMap(({ asDefault, asTuned }) => [asDefault, asTuned]),
    1 / 1.15,
  );
  const ticks = ratioTicks(domain, width);
  const below = ({ y }: { y: number }) => y + 0.36;
  const halo = { fill: COLOURS.ink, stroke: COLOURS.paper, strokeWidth: 3 };
  return {
    ...{ height: shown.length * ROW + 70, marginTop: 26, marginBottom: 40, marginLeft: 10, marginRight: 16 },
    x: { type: 'log', domain, label: null },
    y: { domain: [-0.4, shown.length - 0.3], axis: null, reverse: true },
    marks: [
      gridX(ticks, { stroke: COLOURS.grid, strokeOpacity: 1 }),
      axisX(ticks, {
        text: ratioTick,
        tickSize: 0,
        label: 'time, newer over older compiler  →',
        labelArrow: 'none',
      }),
      ruleX([1], { stroke: COLOURS.muted }),
      text(['← faster'], {
        x: () => 1,
        frameAnchor: 'top',
        dy: -14,
        dx: -6,
        textAnchor: 'end',
        fill: COLOURS.muted,
      }),
      text(['slower →'], {
        x: () => 1,
        frameAnchor: 'top',
        dy: -14,
        dx: 6,
        textAnchor: 'start',
        fill: COLOURS.muted,
      }),
      link(shown, { x1: 'asDefault', x2: 'asTuned', y: below, stroke: COLOURS.plain, strokeWidth: 1.2 }),
      dot(shown, {
        x: 'asDefault',
        y: below,
        r: 4,
        stroke: COLOURS.plain,
        strokeWidth: 1.5,
        fill: COLOURS.paper,
      }),
      dot(shown, { x: 'asTuned', y: below, r: 5, fill: 'colour' }),
      text(shown, { y: 'y', frameAnchor: 'left', textAnchor: 'start', dx: -8, text: 'name', ...halo }),
      text(shown, {
        y: 'y',
        frameAnchor: 'right',
        textAnchor: 'end',
        dx: 14,
        text: 'note',
        fontWeight: 600,
        ...halo,
      }),
    ],
    color: { type: 'identity' },
  };
}
