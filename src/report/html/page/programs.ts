// Whole programs: their gains, and the tuned share of their time.
import { axisX, axisY, barX, dot, link, stackX, text, type PlotOptions } from '@observablehq/plot';
import type { Model } from '../bench-models.ts';
import { formatSeconds } from '../../../system/format.ts';
import { gainText, percentText } from '../texts.ts';
import { figure } from './figure.ts';
import { axis, COLOURS, ratioDomain, ratioRows, rowText } from './marks.ts';
import type { Drawing } from './rows.ts';

export const drawPrograms: Drawing = (host, { data }) => {
  const models = data.models!.results;
  drawGains(host, models);
  const covered = models.filter(({ coverage }) => coverage !== null);
  if (covered.length > 0) drawCoverage(host, covered);
};

const haveOtherResults = ({ verdict }: Model): boolean => verdict?.equal === false;

function outcomeOf(model: Model): string {
  const { state, reason, sameCode } = model;
  const results = haveOtherResults(model) ? 'results differ' : null;
  return [state, sameCode ? 'same code' : null, results, reason].filter((text) => text !== null).join('; ');
}

/** NaN for a program that was not timed. */
const ratioOf = ({ verdict, sameCode }: Model): number => (sameCode ? 1 : (verdict?.timing?.ratio ?? NaN));

function drawGains(host: HTMLElement, models: readonly Model[]): void {
  const timed = models
    .filter((model) => !Number.isNaN(ratioOf(model)))
    .sort((a, b) => ratioOf(b) - ratioOf(a));
  const seconds = (i: 0 | 1) => ({
    value: ({ verdict }: Model) => verdict?.timing?.seconds[i] ?? NaN,
    format: formatSeconds,
  });
  figure<Model>(host, {
    title: 'Gain of each program',
    note: 'Time of the stock program over tuned time, with its 99% interval, on a logarithmic axis.',
    caption: 'Gains of programs',
    sortedBy: [3, true],
    columns: [
      { title: 'Program', value: ({ model }) => model, isLong: true },
      { title: 'Stock', ...seconds(0) },
      { title: 'Tuned', ...seconds(1) },
      { title: 'Gain', value: ratioOf, format: gainText },
      { title: 'Result', value: outcomeOf, isLong: true },
    ],
  }).draw(
    (width) => (timed.length === 0 ? null : gainsOf(timed, width)),
    `Gains of programs: ${timed.map((model) => `${model.model} ${gainText(ratioOf(model))}`).join(', ')}.`,
    models,
  );
}

const ROW = 40;

function gainsOf(models: readonly Model[], width: number): PlotOptions {
  const shown = models.map((model, i) => {
    const { model: name, sameCode, verdict } = model;
    const ratio = ratioOf(model);
    const isWorse = haveOtherResults(model) || ratio < 1;
    // The same code is neither faster nor slower. Its times differ by noise.
    const { low, high } = (sameCode ? null : verdict?.timing) ?? { low: ratio, high: ratio };
    return {
      ...{ name, ratio, y: i + 0.4, lineY: i + 0.72, low, high },
      note: sameCode ? 'same code' : gainText(ratio),
      colour: isWorse ? COLOURS.worse : sameCode ? COLOURS.plain : COLOURS.tuned,
    };
  });
  const domain = ratioDomain(shown.flatMap(({ low, high }) => [low, high]));
  return ratioRows(
    { count: shown.length, rowHeight: ROW, width, domain, label: 'times as fast as stock  →' },
    link(shown, { x1: 'low', x2: 'high', y: 'lineY', stroke: 'colour', strokeWidth: 2 }),
    dot(shown, { x: 'ratio', y: 'lineY', r: 5, fill: 'colour' }),
    rowText('left', shown, { text: 'name' }),
    rowText('right', shown, { text: 'note', fontWeight: 600 }),
  );
}

const PARTS = [
  { name: 'tuned', colour: COLOURS.tuned },
  { name: 'default is best', colour: COLOURS.plain },
  { name: 'contractions without a decision', colour: COLOURS.undecided },
  { name: 'everything else', colour: COLOURS.grid },
] as const;

function sharesOf({ coverage }: Model): readonly number[] {
  const { contractions, decided, applied } = coverage!;
  return [applied, decided - applied, contractions - decided, 1 - contractions].map((share) =>
    Math.max(0, share),
  );
}

function drawCoverage(host: HTMLElement, models: readonly Model[]): void {
  const sorted = models.toSorted((a, b) => sharesOf(b)[0]! - sharesOf(a)[0]!);
  figure<Model>(host, {
    title: 'Time of the stock program',
    note: 'Shares of the time in the program’s dispatches.',
    legend: PARTS,
    caption: 'Shares of the time of stock programs',
    sortedBy: [1, true],
    columns: [
      { title: 'Program', value: ({ model }) => model, isLong: true },
      ...PARTS.map(({ name }, i) => ({
        ...{ title: name, value: (model: Model) => sharesOf(model)[i]!, format: percentText },
      })),
      {
        title: 'Reasons for undecided contractions',
        value: ({ coverage }: Model) =>
          coverage!.left.map(({ reason, share }) => `${percentText(share)} ${reason}`).join('; '),
        isLong: true,
      },
    ],
  }).draw(
    () => coverageOf(sorted),
    `Share of the time that is tuned: ${sorted.map((model) => `${model.model} ${percentText(sharesOf(model)[0]!)}`).join(', ')}.`,
    models,
  );
}

function coverageOf(models: readonly Model[]): PlotOptions {
  const parts = models.flatMap((model) =>
    sharesOf(model).map((share, part) => ({ model: model.model, share, colour: PARTS[part]!.colour })),
  );
  const bar = { x: 'share', y: 'model' } as const;
  const isLabelled = ({ share, colour }: (typeof parts)[number]) => share > 0.08 && colour !== COLOURS.grid;
  return {
    ...{ height: models.length * ROW + 46, marginTop: 8, marginBottom: 40, marginLeft: 14, marginRight: 18 },
    x: { domain: [0, 1], label: null },
    y: { domain: models.map(({ model }) => model), label: null, paddingInner: 0.48, paddingOuter: 0.3 },
    color: { type: 'identity' },
    marks: [
      axisX({ ticks: 5, tickFormat: '.0%', ...axis('share of the time  →') }),
      barX(parts, { ...bar, insetRight: 1, fill: 'colour' }),
      text(
        parts,
        stackX({
          ...{ ...bar, fontSize: 11, fontWeight: 600, fill: COLOURS.paper },
          text: (part: (typeof parts)[number]) => (isLabelled(part) ? percentText(part.share) : ''),
        }),
      ),
      // The names stand above their bars.
      axisY({ tickSize: 0, textAnchor: 'start', dx: 11, dy: -18, fill: COLOURS.ink }),
    ],
  };
}
