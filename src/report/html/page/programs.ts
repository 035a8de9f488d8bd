// Whole programs: their gains, and the tuned share of their time.
import { axisX, dot, gridX, link, rect, ruleX, text, type PlotOptions } from '@observablehq/plot';
import type { ModelData } from '../data.ts';
import { formatSeconds } from '../../../system/format.ts';
import { gainText } from '../numbers.ts';
import { figure, legend } from './figure.ts';
import type { Drawing } from './page.ts';
import { COLOURS, ratioDomain, ratioTick, ratioTicks } from './scales.ts';

export const drawPrograms: Drawing = (host, { data }) => {
  const models = data.models!.models;
  drawGains(host, models);
  const covered = models.filter(({ coverage }) => coverage !== null);
  if (covered.length > 0) drawCoverage(host, covered);
  return () => undefined;
};

const outcomeOf = ({ state, reason, sameCode, equal }: ModelData): string =>
  [state, sameCode ? 'same code' : null, equal === false ? 'results differ' : null, reason]
    .filter((text) => text !== null)
    .join('; ');

function drawGains(host: HTMLElement, models: readonly ModelData[]): void {
  const ratio = ({ timing, sameCode }: ModelData) => (sameCode ? 1 : (timing?.ratio ?? NaN));
  const chart = figure<ModelData>({
    title: 'Gain of each program',
    note: 'Time of the stock program over tuned time, with its 99% interval, on a logarithmic axis.',
    table: {
      caption: 'Gains of programs',
      sortedBy: [3, true],
      columns: [
        { title: 'Program', value: ({ name }) => name, isLong: true },
        {
          title: 'Stock',
          value: ({ timing }) => timing?.seconds[0] ?? NaN,
          show: ({ timing }) => formatSeconds(timing?.seconds[0] ?? NaN),
        },
        {
          title: 'Tuned',
          value: ({ timing }) => timing?.seconds[1] ?? NaN,
          show: ({ timing }) => formatSeconds(timing?.seconds[1] ?? NaN),
        },
        {
          title: 'Gain',
          value: ratio,
          show: (model) => (Number.isNaN(ratio(model)) ? '–' : gainText(ratio(model))),
        },
        { title: 'Result', value: outcomeOf, isLong: true },
      ],
    },
  });
  host.append(chart.element);
  const timed = models.filter((model) => !Number.isNaN(ratio(model))).sort((a, b) => ratio(b) - ratio(a));
  chart.draw(
    (width) =>
      gainsOf(
        timed.map((model) => ({ model, ratio: ratio(model) })),
        width,
      ),
    `Gains of programs: ${timed.map((model) => `${model.name} ${gainText(ratio(model))}`).join(', ')}.`,
    models,
  );
}

const ROW = 40;

function gainsOf(all: readonly { model: ModelData; ratio: number }[], width: number): PlotOptions | null {
  if (all.length === 0) return null;
  const shown = all.map(({ model, ratio }, i) => ({
    ...{ name: model.name, ratio, y: i },
    // The same code is neither faster nor slower. Its times differ by noise.
    low: model.sameCode ? 1 : (model.timing?.low ?? ratio),
    high: model.sameCode ? 1 : (model.timing?.high ?? ratio),
    note: model.sameCode ? 'same code' : gainText(ratio),
    colour:
      model.equal === false || ratio < 1 ? COLOURS.worse : model.sameCode ? COLOURS.plain : COLOURS.tuned,
  }));
  const domain = ratioDomain(shown.flatMap(({ low, high }) => [low, high]));
  const ticks = ratioTicks(domain, width);
  return {
    ...{ height: shown.length * ROW + 46, marginTop: 4, marginBottom: 40, marginLeft: 8, marginRight: 20 },
    x: { type: 'log', domain, label: null },
    y: { domain: [-0.4, shown.length - 0.4], axis: null, reverse: true },
    marks: [
      gridX(ticks, { stroke: COLOURS.grid, strokeOpacity: 1 }),
      axisX(ticks, {
        text: ratioTick,
        tickSize: 0,
        label: 'times as fast as stock  →',
        labelArrow: 'none',
      }),
      ruleX([1], { stroke: COLOURS.muted }),
      link(shown, {
        x1: 'low',
        x2: 'high',
        y: ({ y }: { y: number }) => y + 0.32,
        stroke: 'colour',
        strokeWidth: 2,
      }),
      dot(shown, { x: 'ratio', y: ({ y }: { y: number }) => y + 0.32, r: 5, fill: 'colour' }),
      text(shown, {
        y: 'y',
        frameAnchor: 'left',
        textAnchor: 'start',
        dx: -6,
        text: 'name',
        fill: COLOURS.ink,
        stroke: COLOURS.paper,
        strokeWidth: 3,
      }),
      text(shown, {
        y: 'y',
        frameAnchor: 'right',
        textAnchor: 'end',
        dx: 18,
        text: 'note',
        fontWeight: 600,
        fill: COLOURS.ink,
        stroke: COLOURS.paper,
        strokeWidth: 3,
      }),
    ],
    color: { type: 'identity' },
  };
}

const PARTS = [
  { name: 'tuned', colour: COLOURS.tuned },
  { name: 'default is best', colour: COLOURS.plain },
  { name: 'contractions without a decision', colour: COLOURS.openblas },
  { name: 'everything else', colour: COLOURS.grid },
] as const;

function sharesOf({ coverage }: ModelData): readonly number[] {
  const { contractions, decided, applied } = coverage!;
  return [
    applied,
    Math.max(0, decided - applied),
    Math.max(0, contractions - decided),
    Math.max(0, 1 - contractions),
  ];
}

function drawCoverage(host: HTMLElement, models: readonly ModelData[]): void {
  const chart = figure<ModelData>({
    title: 'Time of the stock program',
    note: 'Shares of the time in the program’s dispatches.',
    table: {
      caption: 'Shares of the time of stock programs',
      sortedBy: [1, true],
      columns: [
        { title: 'Program', value: ({ name }) => name, isLong: true },
        ...PARTS.map(({ name }, i) => ({
          title: name,
          value: (model: ModelData) => sharesOf(model)[i]!,
          show: (model: ModelData) => `${(100 * sharesOf(model)[i]!).toFixed(0)}%`,
        })),
        {
          title: 'Reasons for undecided contractions',
          value: ({ coverage }: ModelData) =>
            coverage!.left.map(({ reason, share }) => `${(100 * share).toFixed(0)}% ${reason}`).join('; '),
          isLong: true,
        },
      ],
    },
  });
  chart.element.querySelector('figcaption')!.append(legend(PARTS));
  host.append(chart.element);
  const sorted = models.toSorted((a, b) => sharesOf(b)[0]! - sharesOf(a)[0]!);
  chart.draw(
    () => coverageOf(sorted),
    `Share of the time that is tuned: ${sorted.map((model) => `${model.name} ${(100 * sharesOf(model)[0]!).toFixed(0)}%`).join(', ')}.`,
    models,
  );
}

function coverageOf(models: readonly ModelData[]): PlotOptions {
  const bars = models.flatMap((model, i) => {
    let left = 0;
    return sharesOf(model).map((share, part) => {
      const bar = { x1: left, x2: left + share, y1: i + 0.1, y2: i + 0.62, part, share };
      left += share;
      return bar;
    });
  });
  return {
    ...{ height: models.length * ROW + 46, marginTop: 4, marginBottom: 40, marginLeft: 14, marginRight: 18 },
    x: { domain: [0, 1], label: null },
    y: { domain: [-0.4, models.length - 0.3], axis: null, reverse: true },
    marks: [
      axisX({ tickSize: 0, ticks: 5, tickFormat: '.0%', label: 'share of the time  →', labelArrow: 'none' }),
      rect(bars, {
        x1: 'x1',
        x2: 'x2',
        y1: 'y1',
        y2: 'y2',
        insetRight: 1,
        fill: ({ part }: { part: number }) => PARTS[part]!.colour,
      }),
      text(
        bars.filter(({ share, part }) => share > 0.08 && part < 3),
        {
          ...{
            x: ({ x1, x2 }: { x1: number; x2: number }) => (x1 + x2) / 2,
            y: ({ y1 }: { y1: number }) => y1 + 0.26,
          },
          ...{
            text: ({ share }: { share: number }) => `${(100 * share).toFixed(0)}%`,
            fontSize: 11,
            fontWeight: 600,
            fill: COLOURS.paper,
          },
        },
      ),
      text(models, {
        y: (_: ModelData, i: number) => i - 0.15,
        frameAnchor: 'left',
        textAnchor: 'start',
        dx: 2,
        text: 'name',
        fill: COLOURS.ink,
      }),
    ],
    color: { type: 'identity' },
  };
}
