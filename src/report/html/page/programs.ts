// Whole programs: their gains, and the tuned share of their time.
import { axisX, dot, link, rect, text, type PlotOptions } from '@observablehq/plot';
import type { ModelData } from '../data.ts';
import { formatSeconds } from '../../../system/format.ts';
import { gainText, percentText } from '../numbers.ts';
import { figure } from './figure.ts';
import { axis, ratioRows, rowText } from './marks.ts';
import type { Drawing } from './rows.ts';
import { COLOURS, ratioDomain } from './scales.ts';

export const drawPrograms: Drawing = (host, { data }) => {
  const models = data.models!.models;
  drawGains(host, models);
  const covered = models.filter(({ coverage }) => coverage !== null);
  if (covered.length > 0) drawCoverage(host, covered);
};

const outcomeOf = ({ state, reason, sameCode, equal }: ModelData): string =>
  [state, sameCode ? 'same code' : null, equal === false ? 'results differ' : null, reason]
    .filter((text) => text !== null)
    .join('; ');

/** NaN for a program that was not timed. */
const ratioOf = ({ timing, sameCode }: ModelData): number => (sameCode ? 1 : (timing?.ratio ?? NaN));

function drawGains(host: HTMLElement, models: readonly ModelData[]): void {
  const timed = models
    .filter((model) => !Number.isNaN(ratioOf(model)))
    .sort((a, b) => ratioOf(b) - ratioOf(a));
  const seconds = (i: 0 | 1) => ({
    value: ({ timing }: ModelData) => timing?.seconds[i] ?? NaN,
    format: formatSeconds,
  });
  figure<ModelData>(host, {
    title: 'Gain of each program',
    note: 'Time of the stock program over tuned time, with its 99% interval, on a logarithmic axis.',
    caption: 'Gains of programs',
    sortedBy: [3, true],
    columns: [
      { title: 'Program', value: ({ name }) => name, isLong: true },
      { title: 'Stock', ...seconds(0) },
      { title: 'Tuned', ...seconds(1) },
      { title: 'Gain', value: ratioOf, format: gainText },
      { title: 'Result', value: outcomeOf, isLong: true },
    ],
  }).draw(
    (width) => (timed.length === 0 ? null : gainsOf(timed, width)),
    `Gains of programs: ${timed.map((model) => `${model.name} ${gainText(ratioOf(model))}`).join(', ')}.`,
    models,
  );
}

const ROW = 40;

function gainsOf(models: readonly ModelData[], width: number): PlotOptions {
  const shown = models.map((model, i) => {
    const { name, sameCode, timing, equal } = model;
    const ratio = ratioOf(model);
    const isWorse = equal === false || ratio < 1;
    return {
      ...{ name, ratio, y: i + 0.4, low: i + 0.72 },
      // The same code is neither faster nor slower. Its times differ by noise.
      interval:
        sameCode || timing === null ? ([ratio, ratio] as const) : ([timing.low, timing.high] as const),
      note: sameCode ? 'same code' : gainText(ratio),
      colour: isWorse ? COLOURS.worse : sameCode ? COLOURS.plain : COLOURS.tuned,
    };
  });
  const domain = ratioDomain(shown.flatMap(({ interval }) => interval));
  type Shown = (typeof shown)[number];
  return ratioRows(
    { count: shown.length, rowHeight: ROW, width, domain, label: 'times as fast as stock  →' },
    link(shown, {
      ...{ x1: ({ interval }: Shown) => interval[0], x2: ({ interval }: Shown) => interval[1] },
      ...{ y: 'low', stroke: 'colour', strokeWidth: 2 },
    }),
    dot(shown, { x: 'ratio', y: 'low', r: 5, fill: 'colour' }),
    rowText('left', shown, { text: 'name' }),
    rowText('right', shown, { text: 'note', fontWeight: 600 }),
  );
}

const PARTS = [
  { name: 'tuned', colour: COLOURS.tuned },
  { name: 'default is best', colour: COLOURS.plain },
  { name: 'contractions without a decision', colour: COLOURS.openblas },
  { name: 'everything else', colour: COLOURS.grid },
] as const;

function sharesOf({ coverage }: ModelData): readonly number[] {
  const { contractions, decided, applied } = coverage!;
  return [applied, decided - applied, contractions - decided, 1 - contractions].map((share) =>
    Math.max(0, share),
  );
}

function drawCoverage(host: HTMLElement, models: readonly ModelData[]): void {
  const sorted = models.toSorted((a, b) => sharesOf(b)[0]! - sharesOf(a)[0]!);
  figure<ModelData>(host, {
    title: 'Time of the stock program',
    note: 'Shares of the time in the program’s dispatches.',
    legend: PARTS,
    caption: 'Shares of the time of stock programs',
    sortedBy: [1, true],
    columns: [
      { title: 'Program', value: ({ name }) => name, isLong: true },
      ...PARTS.map(({ name }, i) => ({
        ...{ title: name, value: (model: ModelData) => sharesOf(model)[i]!, format: percentText },
      })),
      {
        title: 'Reasons for undecided contractions',
        value: ({ coverage }: ModelData) =>
          coverage!.left.map(({ reason, share }) => `${percentText(share)} ${reason}`).join('; '),
        isLong: true,
      },
    ],
  }).draw(
    () => coverageOf(sorted),
    `Share of the time that is tuned: ${sorted.map((model) => `${model.name} ${percentText(sharesOf(model)[0]!)}`).join(', ')}.`,
    models,
  );
}

function coverageOf(models: readonly ModelData[]): PlotOptions {
  const bars = models.flatMap((model, i) => {
    let left = 0;
    return sharesOf(model).map((share, part) => {
      const bar = { x1: left, x2: left + share, y1: i + 0.5, y2: i + 1.02, part, share };
      left = bar.x2;
      return { ...bar, x: (bar.x1 + bar.x2) / 2, y: i + 0.76, colour: PARTS[part]!.colour };
    });
  });
  const labelled = bars.filter(({ share, part }) => share > 0.08 && part < 3);
  return {
    ...{ height: models.length * ROW + 46, marginTop: 4, marginBottom: 40, marginLeft: 14, marginRight: 18 },
    x: { domain: [0, 1], label: null },
    y: { domain: [0, models.length + 0.1], axis: null, reverse: true },
    color: { type: 'identity' },
    marks: [
      axisX({ ticks: 5, tickFormat: '.0%', ...axis('share of the time  →') }),
      rect(bars, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', insetRight: 1, fill: 'colour' }),
      text(labelled, {
        ...{ x: 'x', y: 'y', fontSize: 11, fontWeight: 600, fill: COLOURS.paper },
        text: ({ share }: { share: number }) => percentText(share),
      }),
      text(models, {
        ...{ y: (_: ModelData, i: number) => i + 0.25, frameAnchor: 'left', textAnchor: 'start', dx: 2 },
        ...{ text: 'name', fill: COLOURS.ink },
      }),
    ],
  };
}
