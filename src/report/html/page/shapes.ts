// The shapes of a benchmark, else of the records that save most time.
import { gainText, percentText } from '../numbers.ts';
import { VARIANTS, type KernelsData, type Variant } from '../data.ts';
import { barsOf, type Bar, type BarGroup } from './bars.ts';
import { figure } from './figure.ts';
import type { Drawing, Row } from './rows.ts';
import { COLOURS, rateOf, rateText } from './scales.ts';

const SHOWN: Readonly<Record<Variant, Pick<Bar, 'name' | 'colour' | 'isOurs'>>> = {
  stock: { name: 'default', colour: COLOURS.plain, isOurs: false },
  tuned: { name: 'tuned', colour: COLOURS.tuned, isOurs: true },
  dataTiling: { name: 'data tiling', colour: COLOURS.packed, isOurs: false },
  openblas: { name: 'OpenBLAS', colour: COLOURS.openblas, isOurs: false },
  mkl: { name: 'MKL', colour: COLOURS.mkl, isOurs: false },
};

export const drawShapes: Drawing = (host, { data }) => {
  if (data.kernels === null) return drawRecords(host);
  drawKernels(host, data.kernels);
};

/** `2.10× the default`. A difference below 1% counts as equal. */
const overDefault = (gain: number): string =>
  Math.abs(gain - 1) < 0.01 ? 'as the default' : `${gainText(gain)} the default`;

type Shape = KernelsData['shapes'][number];

const TITLE = 'Rate of each shape';

function drawKernels(host: HTMLElement, { shapes, peak }: KernelsData): void {
  const gain = ({ rates }: Shape) => (rates.tuned ?? NaN) / (rates.stock ?? NaN);
  const share = ({ rates, peak: own }: Shape) => (rates.tuned ?? NaN) / (own ?? NaN);
  const sorted = shapes.toSorted((a, b) => (gain(b) || 0) - (gain(a) || 0));
  const groups = sorted.map((shape): BarGroup => ({
    name: shape.name.replaceAll(/(?<=\d)x(?=\d)/g, '×'),
    note: Number.isNaN(gain(shape)) ? '' : overDefault(gain(shape)),
    bars: VARIANTS.flatMap((variant) => {
      const rate = shape.rates[variant];
      return rate === null ? [] : [{ ...SHOWN[variant], rate }];
    }),
  }));
  figure<Shape>(host, {
    title: TITLE,
    note: 'GFLOP/s, largest gain over the default first. The dashed line is the measured peak of the arithmetic units.',
    caption: 'Rates of each shape in GFLOP/s',
    sortedBy: [VARIANTS.length + 2, true],
    columns: [
      { title: 'Shape', value: ({ name }) => name },
      ...VARIANTS.map((variant) => ({
        ...{
          title: SHOWN[variant].name,
          value: ({ rates }: Shape) => rates[variant] ?? NaN,
          format: rateText,
        },
      })),
      { title: 'Of the peak', value: share, format: percentText },
      { title: 'Tuned over default', value: gain, format: gainText },
    ],
  }).draw(
    (width) => barsOf(groups, peak, width),
    `Rates of ${shapes.length} shapes: ${sorted.map((shape) => `${shape.name} tuned ${rateText(shape.rates.tuned ?? NaN)} GFLOP/s`).join(', ')}.`,
    shapes,
  );
}

/** Most bars of the chart. The table of records has all. */
const MOST = 12;

type KnownRow = Row & { readonly flops: number };

function drawRecords(host: HTMLElement): (rows: readonly Row[]) => void {
  const chart = figure<KnownRow>(host, {
    title: TITLE,
    note: 'GFLOP/s of the records that save most time in one execution, largest saving first.',
    caption: 'Rates of records in GFLOP/s',
    sortedBy: [4, true],
    columns: [
      { title: 'Shape', value: ({ shape }) => shape },
      { title: 'default', value: ({ flops, before }) => rateOf(flops, before), format: rateText },
      { title: 'tuned', value: ({ flops, after }) => rateOf(flops, after), format: rateText },
      { title: 'Gain', value: ({ ratio }) => ratio, format: gainText },
      { title: 'Saved, ms', value: ({ before, after }) => Number(((before - after) * 1e3).toPrecision(3)) },
      { title: 'Device', value: ({ device }) => device, isMinor: true, isLong: true },
    ],
  });
  return (rows) => {
    // The record of the newest compiler: the newest records come first.
    const latest = new Map(
      rows.toReversed().map((row) => [JSON.stringify([row.key, row.place.device]), row]),
    );
    const known = [...latest.values()]
      .filter((row): row is KnownRow => row.flops !== null && row.outcome === 'faster')
      .sort((a, b) => b.before - b.after - (a.before - a.after));
    const groups = known.slice(0, MOST).map((row): BarGroup => ({
      name: row.shape,
      note: overDefault(row.ratio),
      bars: [
        { ...SHOWN.stock, rate: rateOf(row.flops, row.before) },
        { ...SHOWN.tuned, rate: rateOf(row.flops, row.after) },
      ],
    }));
    chart.draw(
      (width) => barsOf(groups, null, width),
      `Rates of ${groups.length} records: ${groups.map(({ name, note }) => `${name} ${note}`).join(', ')}.`,
      known,
    );
  };
}
