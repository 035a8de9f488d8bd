// Rates over arithmetic intensity, below roofs: the arithmetic peak, and the highest seen bandwidth of memory and caches.
import { axisX, axisY, dot, gridX, gridY, line, link, text, type PlotOptions } from '@observablehq/plot';
import { gainText, percentText } from '../numbers.ts';
import { counted } from '../../../system/format.ts';
import type { KernelsData } from '../data.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import { axis, GRID, HALO } from './marks.ts';
import { deviceText, type Row, type Drawing } from './rows.ts';
import { along, COLOURS, decadeTicks, rangeOf, rateOf, rateText, type Range } from './scales.ts';

interface Point {
  readonly row: Row;
  /** Operations per byte of operands and result. */
  readonly intensity: number;
  /** GFLOP/s. */
  readonly before: number;
  readonly after: number;
  readonly bytesPerSecond: number;
}

export const drawRoofline: Drawing = (host, { data, rows: all }) => {
  const counts = Map.groupBy(all, ({ place }) => place.device);
  const devices = [...counts].sort((a, b) => b[1].length - a[1].length).map(([, rows]) => rows[0]!.place);
  let device = devices[0]!.device;
  let shown: readonly Row[] = [];
  const names = devices.map((place) => [place.device, deviceText(place)] as const);
  const { label } = choice('Device', names, (key) => {
    device = key;
    update();
  });
  if (devices.length > 1) host.append(element('div', { class: 'controls' }, label));
  let roofs: Roofs | null = null;
  const shareOf = ({ intensity, after, row }: Point) => {
    const { flat, slopes } = roofs!;
    const own = slopes.filter(({ name }) => name === (fits(row) ? CACHES : MEMORY));
    return after / Math.min(flat.rate, ...own.map(({ at }) => at(intensity)));
  };
  const chart = figure<Point>(host, {
    title: 'Roofline',
    note: 'A dot is a tuned record, a ring its default, a line between them the gain. Both axes are logarithmic. Intensity counts each operand and the result once, so repeated reads make the true intensity lower.',
    caption: 'Intensity and rates of workloads',
    sortedBy: [4, false],
    columns: [
      { title: 'Shape', value: ({ row }) => row.shape },
      { title: 'FLOP per byte', value: ({ intensity }) => Number(intensity.toPrecision(3)) },
      { title: 'default, GFLOP/s', value: ({ before }) => before, format: rateText },
      { title: 'tuned, GFLOP/s', value: ({ after }) => after, format: rateText },
      { title: 'Of its roof', value: shareOf, format: percentText },
    ],
  });

  function update(): void {
    const own = all.filter((row) => row.place.device === device).flatMap(pointOf);
    const found = own.length === 0 ? null : roofsOf(own, data.kernels);
    roofs = found;
    const chosen = new Set(shown);
    const points = own.filter(({ row }) => chosen.has(row));
    const said = found === null ? '' : `${found.flat.name} (${rateText(found.flat.rate)} GFLOP/s)`;
    chart.draw(
      (width) => (found === null || points.length === 0 ? null : chartOf(points, found, width)),
      `Roofline of ${counted(points.length, 'workload')} on ${device}, below ${said}.`,
      points,
    );
  }
  return (rows) => {
    shown = rows;
    update();
  };
};

function pointOf(row: Row): Point[] {
  const { flops, bytes, before, after, failure } = row;
  if (flops === null || bytes === null || failure !== null) return [];
  const rates = { before: rateOf(flops, before), after: rateOf(flops, after) };
  return [{ row, intensity: flops / bytes, ...rates, bytesPerSecond: bytes / after }];
}

const [MEMORY, CACHES] = ['read from memory', 'read from caches'];

/** Below this intensity memory usually is the limit, in operations per byte. */
const LITTLE_WORK = 10;

/** Whether the data of a workload fits into the caches, of 8 MiB if unknown. */
const fits = ({ bytes, place }: Row): boolean => bytes! <= (place.cacheBytes ?? 2 ** 23);

type Roofs = ReturnType<typeof roofsOf>;

/**
 * The upper limits of the measured rates: the measured peak of the device, else the highest rate; and the highest bandwidth of memory and of
 * caches, each as the largest rate in GFLOP/s `at` an intensity.
 */
function roofsOf(points: readonly Point[], kernels: KernelsData | null) {
  const peak = kernels !== null && points[0]!.row.place.device === kernels.device ? kernels.peak : null;
  const most = (values: readonly number[]) => rangeOf([0, ...values])[1];
  const fastest = most(points.map(({ after }) => after));
  // Rates of narrower types pass the peak of f32.
  const flat =
    peak !== null && peak >= fastest
      ? { name: `peak, ${rateText(peak)} GFLOP/s`, rate: peak }
      : { name: `fastest seen, ${rateText(fastest)} GFLOP/s`, rate: fastest };
  // A workload of high intensity says nothing about bandwidth.
  const streams = points.filter(({ intensity }) => intensity < LITTLE_WORK);
  const traffic = (areCached: boolean) =>
    most(streams.filter(({ row }) => fits(row) === areCached).map(({ bytesPerSecond }) => bytesPerSecond));
  const [memory, caches] = [traffic(false), traffic(true)];
  const slopes = [
    { name: MEMORY, rate: memory },
    // Caches are faster than memory: a lower bandwidth shows only that no record was limited by them.
    { name: CACHES, rate: caches > memory ? caches : 0 },
  ].filter(({ rate }) => rate > 0);
  const at = (rate: number) => (intensity: number) => Math.min(flat.rate, (intensity * rate) / 1e9);
  return { flat, slopes: slopes.map(({ name, rate }) => ({ name, at: at(rate) })) };
}

/** Most points that are drawn with their defaults and lines. */
const MOST_LINKS = 150;

/** The logarithmic axes of a chart, and its width in pixels. */
interface Frame {
  readonly x: Range;
  readonly y: Range;
  readonly width: number;
}

function chartOf(points: readonly Point[], { flat, slopes }: Roofs, width: number): PlotOptions {
  const hasLinks = points.length <= MOST_LINKS;
  const [leftmost, rightmost] = rangeOf(points.map(({ intensity }) => intensity));
  const [lowest] = rangeOf(points.flatMap(({ before, after }) => (hasLinks ? [before, after] : [after])));
  const frame: Frame = { x: [leftmost / 2, rightmost * 2], y: [lowest / 1.6, flat.rate * 1.5], width };
  const { x, y } = frame;
  const seen = distinct(points, frame, hasLinks);
  const [faster, others] = [true, false].map((wanted) =>
    seen.filter(({ row }) => (row.outcome === 'faster') === wanted),
  ) as [Point[], Point[]];
  const labelled = [...Map.groupBy(faster, ({ row }) => row.shape).values()]
    .map((own) => own.reduce((best, point) => (point.row.ratio > best.row.ratio ? point : best)))
    .sort((a, b) => b.row.ratio - a.row.ratio)
    .slice(0, !hasLinks ? 0 : width > 560 ? 6 : 2)
    .filter((point, i, before) => before.slice(0, i).every((other) => areApart(point, other, frame)));
  const steps = Array.from({ length: 200 }, (_, i) => x[0] * (x[1] / x[0]) ** (i / 199));
  const sloped = { x: 'x', y: 'y', strokeWidth: 1.2, strokeDasharray: '4 3', clip: true } as const;
  const ring = { x: 'intensity', r: 3, stroke: COLOURS.plain, fill: COLOURS.paper } as const;
  const gain = { x: 'intensity', stroke: COLOURS.tuned, strokeOpacity: 0.5, strokeWidth: 1.5 } as const;
  const [xTicks, yTicks] = [decadeTicks(x, width / 60), decadeTicks(y, 10)];
  return {
    height: Math.max(300, Math.min(480, width * 0.55)),
    ...{ marginLeft: 46, marginRight: 14, marginTop: 30, marginBottom: 42 },
    x: { type: 'log', domain: x, label: null },
    y: { type: 'log', domain: y, label: null },
    marks: [
      gridX(xTicks, GRID),
      gridY(yTicks, GRID),
      axisX(xTicks, { text: plainNumber, ...axis('operations per byte (FLOP/byte)  →') }),
      axisY(yTicks, { text: plainNumber, ...axis('↑  GFLOP/s'), labelAnchor: 'top' }),
      ...slopes.map(({ at }) => {
        const roof = steps.map((step) => ({ x: step, y: at(step) }));
        return line(
          roof.filter((one) => one.y >= y[0]),
          { ...sloped, stroke: COLOURS.ink },
        );
      }),
      line(x, { x: (at: number) => at, y: () => flat.rate, stroke: COLOURS.ink, strokeWidth: 1.5 }),
      text([flat.name], {
        ...{ x: () => x[1], y: () => flat.rate, textAnchor: 'end', dy: -9 },
        ...{ fontWeight: 600, fill: COLOURS.ink },
      }),
      ...(hasLinks ? [link(faster, { ...gain, y1: 'before', y2: 'after' })] : []),
      ...(hasLinks ? [dot(seen, { ...ring, y: 'before' })] : []),
      dot(others, { ...ring, y: 'after' }),
      dot(faster, {
        ...{ x: 'intensity', y: 'after', r: 3.6, fill: COLOURS.tuned, fillOpacity: hasLinks ? 0.9 : 0.4 },
        title: ({ row, before, after }: Point) =>
          `${row.shape}\n${rateText(before)} → ${rateText(after)} GFLOP/s, ${gainText(row.ratio)}`,
        tip: true,
      }),
      ...slopes.map(({ name, at }, i) =>
        text([slopeLabel(at, frame, flat.rate, i)], {
          ...{ x: 'x', y: 'y', text: () => name, textAnchor: 'start', dx: 6, dy: 4, ...HALO },
        }),
      ),
      text(labelled, {
        ...{ x: 'intensity', y: 'after', dx: 7, textAnchor: 'start', fontSize: 11, ...HALO },
        text: ({ row }: Point) => row.shape,
      }),
    ],
  };
}

/** Whether the names of both points have enough room. */
function areApart(a: Point, b: Point, { x, y, width }: Frame): boolean {
  const across = Math.abs(along(x, a.intensity) - along(x, b.intensity)) * width;
  const down = Math.abs(along(y, a.after) - along(y, b.after)) * 350;
  return across > 120 || down > 15;
}

/** The position of a roof's name on its slope: away from the axes and from the other name. */
function slopeLabel(
  at: (intensity: number) => number,
  { x, y }: Frame,
  flat: number,
  i: number,
): { x: number; y: number } {
  const slope = at(1e-9) / 1e-9;
  const left = Math.max(x[0], y[0] / slope);
  const right = Math.min(x[1], flat / slope);
  const where = left * (right / left) ** (0.25 + 0.3 * i);
  return { x: where, y: where * slope };
}

const plainNumber = (value: number): string =>
  value >= 1000 ? value.toLocaleString('en-US') : String(Number(value.toPrecision(2)));

/** The last point of each group of overlapping points. */
function distinct(points: readonly Point[], { x, y, width }: Frame, hasLinks: boolean): Point[] {
  const cellOf = ({ intensity, before, after }: Point) => [
    Math.round(along(x, intensity) * (width / 2)),
    Math.round(along(y, after) * 200),
    Math.round(along(y, before) * (hasLinks ? 200 : 1)),
  ];
  return [...new Map(points.map((point) => [cellOf(point).join(), point])).values()];
}
