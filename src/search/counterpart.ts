// From a point or a configuration of one space to its counterpart in the space of another workload of the same structure.
import { nearestByRatio } from './nearest.ts';
import type { Knob, Point, SearchSpace } from './space.ts';

/**
 * The point with the same values, or else the nearest ones; a tile that is the whole of a dimension is that of the other, too.
 * @returns null where the spaces have other knobs, or nothing legal is there
 */
export function counterpart(point: Point, from: SearchSpace, to: SearchSpace): Point | null {
  if (from === to) return point;
  const isAlike =
    from.knobs.length === to.knobs.length && from.knobs.every(({ name }, i) => name === to.knobs[i]!.name);
  if (!isAlike) return null;
  const found = to.knobs.map((knob, i) => {
    const own = from.knobs[i]!;
    return nearestIndex(knob, own.values[point[i]!]!, own);
  });
  return to.configurationAt(found) === null ? null : found;
}

/**
 * The legal point that is nearest to a configuration of another shape, which need be on no grid. The same shape gives the
 * configuration's own point.
 * @returns null for a configuration that no knobs of these spaces make
 */
export function carried<C>(configuration: C, from: SearchSpace<C>, to: SearchSpace<C>): Point | null {
  const own = from.valuesOf(configuration);
  if (own === null) return null;
  const at = to.knobs.map(({ name }) => from.knobs.findIndex((knob) => knob.name === name));
  if (at.every((i) => i < 0)) return null;
  // A knob that a small shape lacks is one that it leaves out.
  const wanted = at.map((i) => (i < 0 ? 0 : own[i]!));
  const nearest = to.knobs.map((knob, i) => nearestIndex(knob, wanted[i]!, from.knobs[at[i]!] ?? knob));
  const near = to.knobs.map(({ values }, i) => values[nearest[i]!]!);
  const distance = (point: Point) =>
    point.reduce((sum, value, i) => sum + apart(to.knobs[i]!.values[value]!, near[i]!), 0);
  const byDistance = (points: readonly Point[]) =>
    points
      .map((point) => ({ point, distance: distance(point) }))
      .sort((a, b) => a.distance - b.distance)
      .find(({ point }) => to.configurationAt(point) !== null)?.point;
  const once = changed(nearest, to);
  return (
    byDistance([nearest]) ??
    byDistance(once) ??
    byDistance(once.flatMap((point) => changed(point, to))) ??
    byDistance(to.starts) ??
    null
  );
}

/** @param own that `wanted` is a value of, on its grid or not */
function nearestIndex(knob: Knob, wanted: number, own: Knob): number {
  const same = knob.values.indexOf(wanted);
  if (same >= 0) return same;
  const isWhole = own.values.length > 1 && wanted >= wholeOf(own);
  return nearestByRatio(knob.values, isWhole ? wholeOf(knob) : wanted);
}

const wholeOf = ({ values, whole }: Knob): number => whole ?? values.at(-1)!;

/** All points with one knob changed. */
const changed = (point: Point, { knobs }: SearchSpace): Point[] =>
  knobs.flatMap(({ values }, knob) =>
    values.flatMap((_, value) => (value === point[knob] ? [] : [point.with(knob, value)])),
  );

/** Doublings between two values; 0, which leaves a tile out, is far from all others. */
const apart = (a: number, b: number): number =>
  a === b ? 0 : a * b === 0 ? LEFT_OUT : Math.abs(Math.log2(a / b));

const LEFT_OUT = 4;
