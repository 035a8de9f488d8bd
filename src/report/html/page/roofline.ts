// Rates over arithmetic intensity, below the measured limits of the device: arithmetic peaks, memory and caches.
import { axisX, axisY, dot, gridX, gridY, line, link, text, type PlotOptions } from '@observablehq/plot';
import { counted } from '../../../system/format.ts';
import type { Place } from '../data.ts';
import { gainText, percentText } from '../texts.ts';
import { choice, element } from './dom.ts';
import { figure } from './figure.ts';
import { along, axis, COLOURS, GRID, HALO, rangeOf, rateOf, rateText, type Range } from './marks.ts';
import type { Drawing, Row } from './rows.ts';

interface Point {
  readonly row: Row;
  /** Operations per byte of operands and result. */
  readonly intensity: number;
  /** GFLOP/s. */
  readonly before: number;
  readonly after: number;
}

export const drawRoofline: Drawing = (host, { data, rows: all }) => {
  const counts = Map.groupBy(all, ({ place }) => place.device);
  const devices = [...counts].sort((a, b) => b[1].length - a[1].length).map(([, rows]) => rows[0]!.place);
  let { device } = devices[0]!;
  let shown: readonly Row[] = [];
  const names = devices.map((place) => [place.device, place.deviceName] as const);
  const { label } = choice('Device', names, (key) => {
    device = key;
    update();
  });
  if (devices.length > 1) host.append(element('div', { class: 'controls' }, label));
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
      { title: 'Of bound', value: ({ row }) => (row.bound ?? NaN) / row.after, format: percentText },
    ],
  });

  function update(): void {
    const points = shown.filter(({ place }) => place.device === device).flatMap(pointOf);
    const roofs = roofsOf(data.places.filter((place) => place.device === device));
    const said = [...roofs.flat, ...roofs.slopes].map(({ name }) => name);
    chart.draw(
      (width) => (points.length === 0 ? null : chartOf(points, roofs, width)),
      `Roofline of ${counted(points.length, 'workload')} on ${device}, below ${said.join(', ') || 'unmeasured limits'}.`,
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
  return [{ row, intensity: flops / bytes, before: rateOf(flops, before), after: rateOf(flops, after) }];
}

interface Roof {
  readonly name: string;
  /** GFLOP/s, or bytes per nanosecond. */
  readonly rate: number;
}

interface Roofs {
  /** Arithmetic peaks, by element type. */
  readonly flat: readonly Roof[];
  readonly slopes: readonly Roof[];
}

/** The limits of a device. The rates of all its compilers and targets are of the same machine, and a disturbance only lowers them. */
function roofsOf(places: readonly Place[]): Roofs {
  const highest = new Map<string, number>();
  const note = (name: string, rate: number | null | undefined) => {
    if (rate) highest.set(name, Math.max(highest.get(name) ?? 0, rate / 1e9));
  };
  for (const { rates } of places) {
    for (const [type, rate] of Object.entries(rates.multiplicationsPerSecond)) note(type, 2 * rate);
    note('memory', rates.bytesPerSecond);
    note('caches', rates.cache?.bytesPerSecond);
  }
  const all = [...highest].map(([name, rate]) => ({ name, rate }));
  const isSlope = ({ name }: Roof) => name === 'memory' || name === 'caches';
  return {
    flat: all
      .filter((roof) => !isSlope(roof))
      .map(({ name, rate }) => ({ name: `peak of ${name}, ${rateText(rate)} GFLOP/s`, rate })),
    slopes: all.filter(isSlope).map(({ name, rate }) => ({ name: `${name}, ${rateText(rate)} GB/s`, rate })),
  };
}

/** Most points that are drawn with their defaults and lines. */
const MOST_LINKS = 150;

function chartOf(points: readonly Point[], { flat, slopes }: Roofs, width: number): PlotOptions {
  const hasLinks = points.length <= MOST_LINKS;
  const [leftmost, rightmost] = rangeOf(points.map(({ intensity }) => intensity));
  const [lowest] = rangeOf(points.flatMap(({ before, after }) => (hasLinks ? [before, after] : [after])));
  const [, fastest] = rangeOf(points.map(({ after }) => after));
  const top = Math.max(fastest, ...flat.map(({ rate }) => rate));
  const x: Range = [leftmost / 2, rightmost * 2];
  const y: Range = [lowest / 1.6, top * 1.5];
  const [faster, others] = [true, false].map((wanted) =>
    points.filter(({ row }) => (row.outcome === 'faster') === wanted),
  ) as [Point[], Point[]];
  const sloped = slopes.map(({ name, rate }, i) => {
    const [x1, x2] = [Math.max(x[0], y[0] / rate), Math.min(x[1], top / rate)];
    // The names are away from the axes and from each other.
    const at = x1 * (x2 / x1) ** (0.25 + 0.3 * i);
    return { name, x1, x2, y1: x1 * rate, y2: x2 * rate, at, atY: at * rate };
  });
  const ring = { x: 'intensity', r: 3, stroke: COLOURS.plain, fill: COLOURS.paper } as const;
  const gain = { x: 'intensity', stroke: COLOURS.tuned, strokeOpacity: 0.5, strokeWidth: 1.5 } as const;
  const ends = { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2' } as const;
  const [xTicks, yTicks] = [{ ticks: width / 60 }, { ticks: 8 }];
  return {
    height: Math.max(300, Math.min(480, width * 0.55)),
    ...{ marginLeft: 46, marginRight: 14, marginTop: 30, marginBottom: 42 },
    x: { type: 'log', domain: x, label: null },
    y: { type: 'log', domain: y, label: null },
    marks: [
      gridX({ ...xTicks, ...GRID }),
      gridY({ ...yTicks, ...GRID }),
      axisX({ ...xTicks, tickFormat: ',~r', ...axis('operations per byte (FLOP/byte)  →') }),
      axisY({ ...yTicks, tickFormat: ',~r', ...axis('↑  GFLOP/s'), labelAnchor: 'top' }),
      link(sloped, { ...ends, stroke: COLOURS.ink, strokeWidth: 1.2, strokeDasharray: '4 3' }),
      ...flat.map(({ rate }) =>
        line(x, { x: (at: number) => at, y: () => rate, stroke: COLOURS.ink, strokeWidth: 1.5 }),
      ),
      text(flat, {
        ...{ x: () => x[1], y: 'rate', text: 'name', textAnchor: 'end', dy: -9 },
        ...{ fontWeight: 600, fill: COLOURS.ink },
      }),
      ...(hasLinks ? [link(faster, { ...gain, y1: 'before', y2: 'after' })] : []),
      ...(hasLinks ? [dot(points, { ...ring, y: 'before' })] : []),
      dot(others, { ...ring, y: 'after' }),
      dot(faster, {
        ...{ x: 'intensity', y: 'after', r: 3.6, fill: COLOURS.tuned, fillOpacity: hasLinks ? 0.9 : 0.4 },
        title: ({ row, before, after }: Point) =>
          `${row.shape}\n${rateText(before)} → ${rateText(after)} GFLOP/s, ${gainText(row.ratio)}`,
        tip: true,
      }),
      text(sloped, { ...{ x: 'at', y: 'atY', text: 'name', textAnchor: 'start', dx: 6, dy: 4 }, ...HALO }),
      text(hasLinks ? named(faster, x, width) : [], {
        ...{ x: 'intensity', y: 'after', dx: 7, textAnchor: 'start', fontSize: 11, ...HALO },
        text: ({ row }: Point) => row.shape,
      }),
    ],
  };
}

/** Width of a name in pixels. */
const NAME = 130;

/** The points with the largest gains, at most one where a name has room. */
function named(points: readonly Point[], x: Range, width: number): Point[] {
  const columns = Map.groupBy(points, ({ intensity }) => Math.floor((along(x, intensity) * width) / NAME));
  // A name at the right edge would be cut.
  const last = Math.floor(width / NAME) - 1;
  return [...columns]
    .filter(([column]) => column < last)
    .map(([, own]) => own.reduce((best, point) => (point.row.ratio > best.row.ratio ? point : best)))
    .sort((a, b) => b.row.ratio - a.row.ratio)
    .slice(0, width > 560 ? 6 : 2);
}
