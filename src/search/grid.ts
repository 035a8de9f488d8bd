import type { Point } from './space.ts';
import { unseen, type StrategyFactory } from './strategy.ts';

/** Every legal point in order, the last knob fastest: for small spaces, and to check cleverer searches against. */
export const gridSearch: StrategyFactory = (space) => {
  const isNew = unseen(space);
  let next: number[] | null = space.knobs.map(() => 0);
  const advance = (point: number[]): number[] | null => {
    for (let i = point.length - 1; i >= 0; i--) {
      if (point[i]! + 1 < space.knobs[i]!.values.length) return point.with(i, point[i]! + 1).fill(0, i + 1);
    }
    return null;
  };
  return {
    name: 'grid',
    propose(limit) {
      const points: Point[] = [];
      while (points.length < limit && next !== null) {
        if (isNew(next)) points.push(next);
        next = advance(next);
      }
      return points;
    },
    observe() {},
  };
};
