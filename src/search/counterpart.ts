// Maps a point or a configuration of one space to the space of another workload of the same structure.
import { nearestByRatio, neighbours, type Knob, type Point, type SearchSpace } from './space.ts';

/**
 * The point with the same values, or the nearest ones. A tile of a whole dimension maps to a tile of a whole dimension.
 * @returns null if the spaces have different knobs, or if the point is illegal
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
 * The nearest legal point for a configuration of another shape. The configuration may lie off the grid. For the same shape, it
 * is the configuration's own point.
 * @returns null for a configuration that these knobs cannot express
 */
export function carried<C>(configuration: C, from: SearchSpace<C>, to: SearchSpace<C>): Point | null {
  const own = from.valuesOf(configuration);
  if (own === null) return null;
  const at = to.knobs.map(({ name }) => from.knobs.findIndex((knob) => knob.name === name));
  if (at.every((i) => i < 0)) return null;
  // A shape without a knob has the value 0, which leaves the tile out.
  const wanted = at.map((i) => (i < 0 ? 0 : own[i]!));
  const nearest = to.knobs.map((knob, i) => nearestIndex(knob, wanted[i]!, from.knobs[at[i]!] ?? knob));
  const near = to.knobs.map(({ values }, i) => values[nearest[i]!]!);
  const distance = (point: Point) =>
    point.reduce((sum, value, i) => sum + doublings(to.knobs[i]!.values[value]!, near[i]!), 0);
  const byDistance = (points: readonly Point[]) =>
    points
      .map((point) => ({ point, distance: distance(point) }))
      .sort((a, b) => a.distance - b.distance)
      .find(({ point }) => to.configurationAt(point) !== null)?.point;
  const once = neighbours(nearest, to);
  return (
    byDistance([nearest]) ??
    byDistance(once) ??
    byDistance(once.flatMap((point) => neighbours(point, to))) ??
    byDistance(to.starts) ??
    null
  );
}

/** @param own the knob of the value `wanted`, which may lie off its grid */
function nearestIndex(knob: Knob, wanted: number, own: Knob): number {
  const same = knob.values.indexOf(wanted);
  if (same >= 0) return same;
  const isWhole = own.values.length > 1 && wanted >= wholeOf(own);
  return knob.values.indexOf(nearestByRatio(knob.values, isWhole ? wholeOf(knob) : wanted));
}

const wholeOf = ({ values, whole }: Knob): number => whole ?? values.at(-1)!;

/** Distance of two values in doublings. 0, which leaves a tile out, is far from all others. */
const doublings = (a: number, b: number): number =>
  a === b ? 0 : a * b === 0 ? LEFT_OUT : Math.abs(Math.log2(a / b));

const LEFT_OUT = 4;
