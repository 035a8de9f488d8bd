// The same workloads by two compilers: changes of the default and of the tuned time.
import { dot, link, text, type PlotOptions } from '@observablehq/plot';
import { geometricMean } from '../../../measure/statistics.ts';
import { counted, formatSeconds } from '../../../system/format.ts';
import { percentText } from '../texts.ts';
import { element } from './dom.ts';
import { figure } from './figure.ts';
import { clipped, COLOURS, ratioDomain, ratioRows, rowText } from './marks.ts';
import type { Drawing, Row } from './rows.ts';
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
  const changed = changes.filter(({ asDefault, asTuned }) => [asDefault, asTuned].some(isChange));
  const shown = (changed.length > 0 ? changed : changes)
    .toSorted((a, b) => Math.abs(Math.log(b.asTuned)) - Math.abs(Math.log(a.asTuned)))
    .slice(0, MOST)
    .sort((a, b) => b.asTuned - a.asTuned);
  figure<Change>(host, {
    title: 'Largest changes',
    note: `Time with the newer compiler over time with the older one, on a logarithmic axis. The ring is the default, the dot is tuned. ${counted(changes.filter(isWorse).length, 'record')} more than 5% slower when tuned.`,
    caption: 'Changes between compilers',
    sortedBy: [4, true],
    columns: [
      { title: 'Shape', value: ({ after }) => after.shape },
      { title: 'From', value: ({ before }) => before.place.compiler, isMinor: true, isLong: true },
      { title: 'To', value: ({ after }) => after.place.compiler, isLong: true },
      { title: 'Default', value: ({ asDefault }) => asDefault, format: changeText },
      { title: 'As tuned', value: ({ asTuned }) => asTuned, format: changeText },
      { title: 'Tuned before', value: ({ before }) => before.after, format: formatSeconds, isMinor: true },
      { title: 'Tuned now', value: ({ after }) => after.after, format: formatSeconds, isMinor: true },
      { title: 'Configuration', value: configurationText, isMinor: true, isLong: true },
    ],
  }).draw(
    (width) => chartOf(shown, width),
    `Changes: ${shown.map(({ after, asTuned }) => `${after.shape} ${changeText(asTuned)}`).join(', ')}.`,
    changes,
  );
};

const isChange = (ratio: number): boolean => ratio > LEAST || ratio < 1 / LEAST;

const isWorse = ({ asTuned }: Change): boolean => asTuned > LEAST;

/** `12% slower`, `3.1× as long`, `about the same`. */
function changeText(ratio: number): string {
  if (ratio >= 2) return `${ratio.toFixed(1)}× as long`;
  if (ratio > LEAST) return `${percentText(ratio - 1)} slower`;
  if (ratio >= 1 / LEAST) return 'about the same';
  return ratio <= 0.5 ? `${(1 / ratio).toFixed(1)}× as fast` : `${percentText(1 - ratio)} less time`;
}

const configurationText = ({ before, after }: Change): string =>
  before.configuration === after.configuration ? 'the same' : `was ${before.configuration}`;

/** The changes between two compilers. */
type Step = readonly [Change, ...Change[]];

function drawSummary(host: HTMLElement, changes: readonly Change[]): void {
  const steps = Map.groupBy(changes, ({ before, after }) =>
    JSON.stringify([before.place.compiler, after.place.compiler]),
  );
  const mean = (of: (change: Change) => number) => (step: Step) => geometricMean(step.map(of));
  const [defaults, tuned] = [mean(({ asDefault }) => asDefault), mean(({ asTuned }) => asTuned)];
  const table = sortableTable<Step>({
    caption: 'Compared compilers',
    ...{ sortedBy: [2, true], perPage: 10 },
    columns: [
      { title: 'From', value: ([{ before }]) => before.place.compiler, isLong: true },
      { title: 'To', value: ([{ after }]) => after.place.compiler, isLong: true },
      { title: 'Compared', value: ({ length }) => length, isMinor: true },
      { title: 'Defaults, mean', value: defaults, format: changeText, isMinor: true },
      { title: 'Tuned, mean', value: tuned, format: changeText },
      { title: 'Slower when tuned', value: (step) => step.filter(isWorse).length },
    ],
  });
  table.show([...steps.values()] as unknown as Step[]);
  host.append(element('div', { class: 'summary' }, table.element));
}

function chartOf(changes: readonly Change[], width: number): PlotOptions {
  const shown = changes.map((change, i) => ({
    ...{ ...change, y: i + 0.4, low: i + 0.76, colour: isWorse(change) ? COLOURS.worse : COLOURS.tuned },
    name: clipped(`${change.after.shape}  ${change.after.place.deviceName}`, width > 560 ? 70 : 30),
    note: changeText(change.asTuned),
  }));
  const ratios = shown.flatMap(({ asDefault, asTuned }) => [asDefault, asTuned]);
  const frame = { count: shown.length, rowHeight: 40, width, domain: ratioDomain(ratios, 1 / 1.15) };
  const plain = { stroke: COLOURS.plain, strokeWidth: 1.5, y: 'low' };
  return ratioRows(
    { ...frame, label: 'time, newer over older compiler  →', marginTop: 26 },
    ...['← faster', 'slower →'].map((word, i) =>
      text([word], {
        ...{ x: () => 1, frameAnchor: 'top', dy: -14, dx: 12 * i - 6, fill: COLOURS.muted },
        textAnchor: i === 0 ? 'end' : 'start',
      }),
    ),
    link(shown, { x1: 'asDefault', x2: 'asTuned', ...plain }),
    dot(shown, { x: 'asDefault', r: 4, fill: COLOURS.paper, ...plain }),
    dot(shown, { x: 'asTuned', y: 'low', r: 5, fill: 'colour' }),
    rowText('left', shown, { text: 'name' }),
    rowText('right', shown, { text: 'note', fontWeight: 600 }),
  );
}
