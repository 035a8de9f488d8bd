// Rates over arithmetic intensity, below the measured limits of the device: arithmetic peaks, memory and caches.
import { axisX, axisY, dot, gridX, gridY, link, ruleY, text, type PlotOptions } from '@observablehq/plot';
import { counted } from '../../../system/format.ts';
import type { Place } from '../data.ts';
import { gainText } from '../texts.ts';
import { axis, COLOURS, figure, GRID, HALO, rangeOf, rateOf, rateText, type Range } from './figure.ts';
import type { Drawing, Row } from './rows.ts';

interface Point {
  readonly row: Row;
  /** Operations per byte of operands and result. */
  readonly intensity: number;
  /** GFLOP/s. */
  readonly before: number;
  readonly after: number;
}

export const drawRoofline: Drawing = (host) => {
  const draw = figure(
    host,
    'Rates of the device with most of the filtered records',
    'A dot is a tuned record, a ring its default, a line between them the gain. Both axes are logarithmic. Intensity counts each operand and the result once, so repeated reads make the true intensity lower.',
  );
  return (rows) => {
    const points = rows.flatMap(pointOf);
    const devices = Map.groupBy(points, ({ row }) => row.place.device);
    const [own = []] = [...devices.values()].sort((a, b) => b.length - a.length);
    const roofs = roofsOf(new Set(own.map(({ row }) => row.place)));
    const limits = roofs.map(({ name }) => name).join(', ') || 'unmeasured limits';
    const device = own[0]?.row.place.deviceName ?? '';
    draw(
      (width) => (own.length === 0 ? null : chartOf(own, roofs, device, width)),
      `Roofline of ${counted(own.length, 'workload')} on ${device}, below ${limits}.`,
    );
  };
};

function pointOf(row: Row): Point[] {
  const { flops, bytes, defaultSeconds, seconds, failure } = row;
  if (flops === null || bytes === null || failure !== null) return [];
  return [
    { row, intensity: flops / bytes, before: rateOf(flops, defaultSeconds), after: rateOf(flops, seconds) },
  ];
}

interface Roof {
  readonly name: string;
  /** GFLOP/s of a flat roof, bytes per nanosecond of a sloped one. */
  readonly rate: number;
  readonly isFlat: boolean;
}

/** The limits of a device. The rates of all its compilers and targets are of the same machine, and a disturbance only lowers them. */
function roofsOf(places: Iterable<Place>): Roof[] {
  const all = [...places].flatMap(({ rates: { multiplicationsPerSecond, bytesPerSecond, cache } }) => [
    ...Object.entries(multiplicationsPerSecond).map(([type, rate]) => ({
      ...{ limit: `peak of ${type}`, rate: 2 * rate, isFlat: true },
    })),
    { limit: 'memory', rate: bytesPerSecond ?? 0, isFlat: false },
    { limit: 'caches', rate: cache?.bytesPerSecond ?? 0, isFlat: false },
  ]);
  return [...Map.groupBy(all, ({ limit }) => limit)].flatMap(([limit, own]) => {
    const rate = Math.max(...own.map((one) => one.rate)) / 1e9;
    const { isFlat } = own[0]!;
    const name = `${limit}, ${rateText(rate)} ${isFlat ? 'GFLOP/s' : 'GB/s'}`;
    return rate > 0 ? [{ name, rate, isFlat }] : [];
  });
}

/** Most points that are drawn with their defaults and lines. */
const MOST_LINKS = 150;

function chartOf(
  points: readonly Point[],
  roofs: readonly Roof[],
  device: string,
  width: number,
): PlotOptions {
  const linked = points.length <= MOST_LINKS ? points : [];
  const [leftmost, rightmost] = rangeOf(points.map(({ intensity }) => intensity));
  const rates = [...points.map(({ after }) => after), ...linked.map(({ before }) => before)];
  const [lowest, fastest] = rangeOf(rates);
  const [slopes, flat] = [false, true].map((wanted) => roofs.filter(({ isFlat }) => isFlat === wanted));
  const top = Math.max(fastest, ...flat!.map(({ rate }) => rate));
  const x: Range = [leftmost / 2, rightmost * 2];
  const y: Range = [lowest / 1.6, top * 1.5];
  const sloped = slopes!.map(({ name, rate }, i) => {
    const [x1, x2] = [Math.max(x[0], y[0] / rate), Math.min(x[1], top / rate)];
    // The names are away from the axes and from each other.
    const at = x1 * (x2 / x1) ** (0.25 + 0.3 * i);
    return { name, x1, x2, y1: x1 * rate, y2: x2 * rate, at, atY: at * rate };
  });
  const roof = { stroke: COLOURS.ink, strokeWidth: 1.5 } as const;
  const ring = { x: 'intensity', r: 3, stroke: COLOURS.plain, fill: COLOURS.paper } as const;
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
      text([device], { frameAnchor: 'top-right', dy: -20, fill: COLOURS.muted }),
      link(sloped, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', ...roof, strokeDasharray: '4 3' }),
      ruleY(flat, { y: 'rate', ...roof }),
      text(flat, { y: 'rate', text: 'name', frameAnchor: 'right', dy: -9, fontWeight: 600 }),
      link(linked, {
        ...{ x: 'intensity', y1: 'before', y2: 'after' },
        ...{ stroke: COLOURS.tuned, strokeOpacity: 0.5, strokeWidth: 1.5 },
      }),
      dot(linked, { ...ring, y: 'before' }),
      dot(
        points.filter(({ row }) => row.outcome !== 'faster'),
        { ...ring, y: 'after' },
      ),
      dot(
        points.filter(({ row }) => row.outcome === 'faster'),
        {
          ...{ x: 'intensity', y: 'after', r: 3.6, fill: COLOURS.tuned, fillOpacity: 0.7, tip: true },
          title: ({ row, before, after }: Point) =>
            `${row.shape}\n${rateText(before)} → ${rateText(after)} GFLOP/s, ${gainText(row.ratio)}`,
        },
      ),
      text(sloped, { ...{ x: 'at', y: 'atY', text: 'name', textAnchor: 'start', dx: 6, dy: 4 }, ...HALO }),
    ],
  };
}
