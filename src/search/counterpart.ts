// What a point of one space is in the space of another workload of the same structure.
import type { Point, SearchSpace } from './space.ts';

/**
 * The point with the same values, or else the nearest ones; a tile that is the whole of a dimension is that of the other, too.
 * @returns null where the spaces have other knobs, or nothing legal is there
 */
export function counterpart(point: Point, from: SearchSpace, to: SearchSpace): Point | null {
  if (from === to) return point;
  const isAlike =
    from.knobs.length === to.knobs.length && from.knobs.every(({ name }, i) => name === to.knobs[i]!.name);
  if (!isAlike) return null;
  const found = point.map((at, i) => {
    const [own, others] = [from.knobs[i]!.values, to.knobs[i]!.values];
    const same = others.indexOf(own[at]!);
    if (same >= 0) return same;
    return at === own.length - 1 ? others.length - 1 : nearest(others, own[at]!);
  });
  return to.configurationAt(found) === null ? null : found;
}

/** Index of the value that is nearest by ratio, where 0 is near to nothing else. */
const nearest = (values: readonly number[], wanted: number): number =>
  values.reduce(
    (best, value, i) => (distance(value, wanted) < distance(values[best]!, wanted) ? i : best),
    0,
  );

const distance = (a: number, b: number): number =>
  Math.min(a, b) <= 0 ? Infinity : Math.abs(Math.log(a / b));
