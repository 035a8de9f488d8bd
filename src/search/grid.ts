import type { Point } from './space.ts';
import { unseen, type StrategyFactory } from './strategy.ts';

/**
 * Every legal point; the last knob varies fastest. Each knob starts at its value in the first start and wraps around. For small
 * spaces, and as a reference for other strategies.
 */
export const gridSearch: StrategyFactory = (space) => {
  const isNew = unseen(space);
  const first = space.starts[0] ?? space.knobs.map(() => 0);
  const sizes = space.knobs.map(({ values }) => values.length);
  /** Steps of each knob from its first value. */
  let next: number[] | null = sizes.includes(0) ? null : sizes.map(() => 0);
  const advance = (steps: number[]): number[] | null => {
    for (let i = steps.length - 1; i >= 0; i--) {
      if (steps[i]! + 1 < sizes[i]!) return steps.with(i, steps[i]! + 1).fill(0, i + 1);
    }
    return null;
  };
  return {
    name: 'grid',
    propose(limit) {
      const points: Point[] = [];
      while (points.length < limit && next !== null) {
        const point = next.map((steps, i) => (first[i]! + steps) % sizes[i]!);
        if (isNew(point)) points.push(point);
        next = advance(next);
      }
      return points;
    },
    observe() {},
  };
};
