// From a point of one space to its counterpart in the space of another workload of the same structure.
import { nearestByRatio } from './nearest.ts';
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
    return at === own.length - 1 ? others.length - 1 : nearestByRatio(others, own[at]!);
  });
  return to.configurationAt(found) === null ? null : found;
}
