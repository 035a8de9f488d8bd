// The best result so far of each search, with the best search in front.
import { axisX, axisY, dot, gridY, line, text, type PlotOptions } from '@observablehq/plot';
import { counted } from '../../../system/format.ts';
import type { Search } from '../data.ts';
import { gainText, triedIn } from '../texts.ts';
import { figure } from './figure.ts';
import { axis, COLOURS, GRID, HALO, ratioDomain, ratioTick, ratioTicks } from './marks.ts';
import type { Drawing, Row } from './rows.ts';

interface Curve {
  readonly row: Row;
  readonly search: Search;
  readonly tried: number;
  /** Number of the best trial; 0 if the default stayed best. */
  readonly foundAt: number;
  readonly best: number;
}

function curveOf(row: Row): Curve[] {
  const { search } = row;
  if (search === null) return [];
  const [foundAt, best] = search.steps.at(-1) ?? [0, 1];
  return [{ row, search, tried: triedIn(search), foundAt, best }];
}

/** Most curves behind the first one. More curves would be a grey area. */
const MOST_LINES = 250;

export const drawSearches: Drawing = (host) => {
  const draw = figure(
    host,
    'Best so far',
    'Gain of the best configuration over the default after each trial, as screened. The final measurement decides, and may find a smaller gain. The details of a record have its failed trials.',
  );
  return (rows) => {
    const curves = rows.flatMap(curveOf).sort((a, b) => b.best - a.best);
    const first = curves[0];
    const said =
      first === undefined
        ? ''
        : ` In front: ${first.row.shape}, ${gainText(first.best)} at trial ${first.foundAt} of ${first.tried}.`;
    draw(
      (width) => (first === undefined ? null : chartOf(curves, first, width)),
      `Best so far of ${counted(curves.length, 'search', 'searches')}.${said}`,
    );
  };
};

const stepsOf = ({ search, tried, best }: Curve, curve: number) => [
  { trial: 0, ratio: 1, curve },
  ...search.steps.map(([trial, ratio]) => ({ trial, ratio, curve })),
  { trial: tried, ratio: best, curve },
];

function chartOf(all: readonly Curve[], first: Curve, width: number): PlotOptions {
  const every = Math.ceil(all.length / MOST_LINES);
  const behind = all.filter((_, i) => i % every === 0);
  const domain = ratioDomain(behind.map(({ best }) => best));
  const height = 340;
  const ticks = ratioTicks(domain, height * 1.8);
  const trials = Math.max(10, ...behind.map(({ tried }) => tried));
  const own = stepsOf(first, 0);
  const isLate = first.tried > trials * 0.6;
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
        ...{ ...step, z: 'curve', stroke: COLOURS.plain, strokeWidth: 1 },
        strokeOpacity: behind.length > 100 ? 0.22 : behind.length > 40 ? 0.45 : 0.7,
      }),
      line(own, { ...step, stroke: COLOURS.paper, strokeWidth: 5 }),
      line(own, { ...step, stroke: COLOURS.tuned, strokeWidth: 2.5 }),
      dot(own.slice(1, -1), { ...place, r: 3, fill: COLOURS.tuned }),
      text(own.slice(-1), {
        ...{ ...place, dy: -9, fontWeight: 600, textAnchor: isLate ? 'end' : 'start', ...HALO },
        text: () => `${first.row.shape}  ${gainText(first.best)}`,
      }),
    ],
  };
}
