// Rates over arithmetic intensity, below roofs: the arithmetic peak, and the highest seen bandwidth of memory and caches.
import { axisX, axisY, dot, gridX, gridY, line, link, text, type PlotOptions } from '@observablehq/plot';
import { gainText } from '../numbers.ts';
import { counted } from '../../../system/format.ts';
import type { KernelsData } from '../data.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import type { Drawing } from './page.ts';
import { deviceText, type Row } from './rows.ts';
import { COLOURS, decadeTicks, rateOf, rateText } from './scales.ts';

interface Point {
  readonly row: Row;
  /** Operations per byte of operands and result. */
  readonly intensity: number;
  /** GFLOP/s. */
  readonly before: number;
  readonly after: number;
  readonly bytesPerSecond: number;
}

/** An upper limit of all measured rates. */
interface Roof {
  readonly name: string;
  /** Largest rate in GFLOP/s at an intensity. */
  readonly at: (intensity: number) => number;
  readonly isFlat: boolean;
}

export const drawRoofline: Drawing = (host, { data, rows: all }) => {
  const counts = Map.groupBy(all, ({ place }) => place.device);
  const devices = [...counts].sort((a, b) => b[1].length - a[1].length).map(([, rows]) => rows[0]!.place);
  let device = devices[0]!.device;
  let shown: readonly Row[] = [];
  const { label } = choice(
    'Device',
    devices.map((place) => [place.device, deviceText(place)]),
    (key) => {
      device = key;
      update();
    },
  );
  const chart = figure<Point>({
    title: 'Roofline',
    note: 'A dot is a tuned record, a ring its default, a line between them the gain. Both axes are logarithmic. Intensity counts each operand and the result once, so repeated reads make the true intensity lower.',
    table: {
      caption: 'Intensity and rates of workloads',
      sortedBy: [4, false],
      columns: [
        { title: 'Shape', value: ({ row }) => row.shape },
        { title: 'FLOP per byte', value: ({ intensity }) => Number(intensity.toPrecision(3)) },
        { title: 'default, GFLOP/s', value: ({ before }) => before, show: ({ before }) => rateText(before) },
        { title: 'tuned, GFLOP/s', value: ({ after }) => after, show: ({ after }) => rateText(after) },
        {
          title: 'Of its roof',
          value: (point) => shareOf(point),
          show: (point) => `${(100 * shareOf(point)).toFixed(0)}%`,
        },
      ],
    },
  });
  if (devices.length > 1) host.append(element('div', { class: 'controls' }, label));
  host.append(chart.element);

  let roofs: readonly Roof[] = [];
  const shareOf = ({ intensity, after, row }: Point) =>
    after /
    Math.min(
      ...roofs.filter(({ name }) => name !== (fits(row) ? MEMORY : CACHES)).map(({ at }) => at(intensity)),
    );

  function update(): void {
    const own = all.filter((row) => row.place.device === device).flatMap(pointOf);
    roofs = roofsOf(own, data.kernels);
    const chosen = new Set(shown);
    const points = own.filter(({ row }) => chosen.has(row));
    const said = roofs.map(({ name, at }) => `${name} (${rateText(at(1e12))} GFLOP/s)`).slice(0, 1);
    chart.draw(
      (width) => chartOf(points, roofs, width),
      `Roofline of ${counted(points.length, 'workload')} on ${device}, below ${said.join()}.`,
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
  return [
    {
      ...{ row, intensity: flops / bytes, before: rateOf(flops, before), after: rateOf(flops, after) },
      bytesPerSecond: bytes / after,
    },
  ];
}

const [MEMORY, CACHES] = ['read from memory', 'read from caches'];

/** Below this intensity memory usually is the limit, in operations per byte. */
const LITTLE_WORK = 10;

/** Whether the data of a workload fits into the caches, of 8 MiB if unknown. */
const fits = ({ bytes, place }: Row): boolean => bytes! <= (place.cacheBytes ?? 2 ** 23);

/** The measured peak of the device, else the highest rate; and the highest bandwidth of memory and of caches. */
function roofsOf(points: readonly Point[], kernels: KernelsData | null): Roof[] {
  if (points.length === 0) return [];
  const peak = kernels !== null && points[0]!.row.place.device === kernels.device ? kernels.peak : null;
  const most = (some: readonly Point[], of: (point: Point) => number) =>
    some.reduce((highest, point) => Math.max(highest, of(point)), 0);
  const fastest = most(points, ({ after }) => after);
  // Rates of narrower types pass the peak of f32.
  const flat =
    peak !== null && peak >= fastest
      ? { name: `peak, ${rateText(peak)} GFLOP/s`, rate: peak }
      : { name: `fastest seen, ${rateText(fastest)} GFLOP/s`, rate: fastest };
  // A workload of high intensity says nothing about bandwidth.
  const streams = points.filter(({ intensity }) => intensity < LITTLE_WORK);
  const traffic = (areCached: boolean) =>
    most(
      streams.filter(({ row }) => fits(row) === areCached),
      ({ bytesPerSecond }) => bytesPerSecond,
    );
  const [memory, caches] = [traffic(false), traffic(true)];
  const slopes = [
    { name: MEMORY, rate: memory },
    // Caches are faster than memory: a lower bandwidth shows only that no record was limited by them.
    { name: CACHES, rate: caches > memory ? caches : 0 },
  ].filter(({ rate }) => rate > 0);
  return [
    { name: flat.name, at: () => flat.rate, isFlat: true },
    ...slopes.map(({ name, rate }): Roof => ({
      name,
      at: (intensity) => Math.min(flat.rate, (intensity * rate) / 1e9),
      isFlat: false,
    })),
  ];
}

/** Most points that are drawn with their defaults and lines. */
const MOST_LINKS = 150;

function chartOf(points: readonly Point[], roofs: readonly Roof[], width: number): PlotOptions | null {
  if (points.length === 0) return null;
  const range = (values: readonly number[]): [number, number] => [
    values.reduce((a, b) => Math.min(a, b)),
    values.reduce((a, b) => Math.max(a, b)),
  ];
  const [leftmost, rightmost] = range(points.map(({ intensity }) => intensity));
  const x: [number, number] = [leftmost / 2, rightmost * 2];
  const flat = roofs[0]!.at(1);
  const links = points.length <= MOST_LINKS;
  const [lowest] = range(points.flatMap(({ before, after }) => (links ? [before, after] : [after])));
  const y: [number, number] = [lowest / 1.6, flat * 1.5];
  const seen = distinct(points, x, y, width);
  const steps = Array.from({ length: 200 }, (_, i) => x[0] * (x[1] / x[0]) ** (i / 199));
  const labelled = [...Map.groupBy(seen, ({ row }) => row.shape).values()]
    .map((own) => own.reduce((best, point) => (point.row.ratio > best.row.ratio ? point : best)))
    .filter(({ row }) => row.outcome === 'faster')
    .sort((a, b) => b.row.ratio - a.row.ratio)
    .slice(0, !links ? 0 : width > 560 ? 6 : 2)
    .filter((point, i, before) => before.slice(0, i).every((other) => areApart(point, other, x, y, width)));
  const slopes = roofs.filter(({ isFlat }) => !isFlat);
  const [xTicks, yTicks] = [decadeTicks(x, width / 60), decadeTicks(y, 10)];
  return {
    ...{
      height: Math.max(300, Math.min(480, width * 0.55)),
      marginLeft: 46,
      marginRight: 14,
      marginTop: 30,
      marginBottom: 42,
    },
    x: { type: 'log', domain: x, label: null },
    y: { type: 'log', domain: y, label: null },
    marks: [
      gridX(xTicks, { stroke: COLOURS.grid, strokeOpacity: 1 }),
      gridY(yTicks, { stroke: COLOURS.grid, strokeOpacity: 1 }),
      axisX(xTicks, {
        tickSize: 0,
        text: plainNumber,
        label: 'operations per byte (FLOP/byte)  →',
        labelArrow: 'none',
      }),
      axisY(yTicks, {
        tickSize: 0,
        text: plainNumber,
        label: '↑  GFLOP/s',
        labelArrow: 'none',
        labelAnchor: 'top',
      }),
      ...slopes.map(({ at }) =>
        line(
          steps.map((at_) => ({ x: at_, y: at(at_) })).filter((one) => one.y >= y[0]),
          { x: 'x', y: 'y', stroke: COLOURS.ink, strokeWidth: 1.2, strokeDasharray: '4 3', clip: true },
        ),
      ),
      line(
        [
          { x: x[0], y: flat },
          { x: x[1], y: flat },
        ],
        { x: 'x', y: 'y', stroke: COLOURS.ink, strokeWidth: 1.5 },
      ),
      text([roofs[0]!], {
        ...{
          x: () => x[1],
          y: () => flat,
          text: 'name',
          textAnchor: 'end',
          dy: -9,
          fontWeight: 600,
          fill: COLOURS.ink,
        },
      }),
      ...(links
        ? [
            link(
              seen.filter(({ row }) => row.outcome === 'faster'),
              {
                x: 'intensity',
                y1: 'before',
                y2: 'after',
                stroke: COLOURS.tuned,
                strokeOpacity: 0.5,
                strokeWidth: 1.5,
              },
            ),
            dot(seen, { x: 'intensity', y: 'before', r: 3, stroke: COLOURS.plain, fill: COLOURS.paper }),
          ]
        : []),
      dot(
        seen.filter(({ row }) => row.outcome !== 'faster'),
        { x: 'intensity', y: 'after', r: 3, stroke: COLOURS.plain, fill: COLOURS.paper },
      ),
      dot(
        seen.filter(({ row }) => row.outcome === 'faster'),
        {
          ...{ x: 'intensity', y: 'after', r: 3.6, fill: COLOURS.tuned, fillOpacity: links ? 0.9 : 0.4 },
          title: ({ row, before, after }: Point) =>
            `${row.shape}\n${rateText(before)} → ${rateText(after)} GFLOP/s, ${gainText(row.ratio)}`,
          tip: true,
        },
      ),
      ...slopes.map(({ name, at }, i) => {
        const where = slopeLabel(at, x, y, flat, i);
        return text([where], {
          x: 'x',
          y: 'y',
          text: () => name,
          textAnchor: 'start',
          dx: 6,
          dy: 4,
          fill: COLOURS.ink,
          stroke: COLOURS.paper,
          strokeWidth: 3,
        });
      }),
      text(labelled, {
        ...{
          x: 'intensity',
          y: 'after',
          text: ({ row }: Point) => row.shape,
          dx: 7,
          textAnchor: 'start',
          fontSize: 11,
        },
        ...{ fill: COLOURS.ink, stroke: COLOURS.paper, strokeWidth: 3 },
      }),
    ],
  };
}

/** Whether the names of both roofs have enough room. */
function areApart(
  a: Point,
  b: Point,
  x: readonly [number, number],
  y: readonly [number, number],
  width: number,
): boolean {
  const across = (Math.abs(Math.log(a.intensity / b.intensity)) / Math.log(x[1] / x[0])) * width;
  const down = (Math.abs(Math.log(a.after / b.after)) / Math.log(y[1] / y[0])) * 350;
  return across > 120 || down > 15;
}

/** The position of a roof's name on its slope: away from the axes and from the other name. */
function slopeLabel(
  at: (intensity: number) => number,
  x: readonly [number, number],
  y: readonly [number, number],
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

/** One point of each group of overlapping points. */
function distinct(
  points: readonly Point[],
  x: readonly [number, number],
  y: readonly [number, number],
  width: number,
): Point[] {
  const cells = new Map<string, Point>();
  const part = (value: number, [low, high]: readonly [number, number], of: number) =>
    Math.round((Math.log(value / low) / Math.log(high / low)) * of);
  for (const point of points)
    cells.set(
      `${part(point.intensity, x, width / 2)} ${part(point.after, y, 200)} ${part(point.before, y, points.length <= MOST_LINKS ? 200 : 1)}`,
      point,
    );
  return [...cells.values()];
}
