import type { Point } from './space.ts';
import { randomPoint, unseen, type StrategyFactory } from './strategy.ts';

/** Draws in a row without a new legal point after which the space counts as exhausted. */
const MAX_MISSES = 2000;

/** Independent uniform draws: the baseline that every other strategy has to beat. */
export const randomSearch: StrategyFactory = (space, random) => {
  const isNew = unseen(space);
  return {
    name: 'random',
    propose(limit) {
      const points: Point[] = [];
      for (let misses = 0; points.length < limit && misses < MAX_MISSES;) {
        const point = randomPoint(space, random);
        if (isNew(point)) {
          points.push(point);
          misses = 0;
        } else misses++;
      }
      return points;
    },
    observe() {},
  };
};
