// A genetic search: crosses good points and mutates their children.
import type { Point } from './space.ts';
import { drawn, randomPoint, unseen, type StrategyFactory } from './strategy.ts';

/** Number of the best points that can be parents. */
const SURVIVORS = 32;

/** A parent is the best of so many random survivors. */
const TOURNAMENT = 3;

/** Chance that a knob of a child gets a random value. */
const MUTATION = 0.1;

export const geneticSearch: StrategyFactory = (space, random) => {
  const isNew = unseen(space);
  const starts = space.starts.filter(isNew);
  const costs = new Map<string, { readonly point: Point; readonly cost: number }>();
  let survivors: Point[] = [];
  // Survivors are sorted: the lowest index is the best.
  const parent = () =>
    survivors[
      Math.min(...Array.from({ length: TOURNAMENT }, () => Math.floor(random() * survivors.length)))
    ]!;
  const child = (): Point => {
    const [one, other] = [parent(), parent()];
    const changed = randomPoint(space, random);
    return one.map((value, knob) => {
      if (random() < MUTATION) return changed[knob]!;
      return random() < 0.5 ? value : other[knob]!;
    });
  };
  return {
    name: 'ga',
    propose(limit) {
      const points = starts.splice(0, limit);
      if (survivors.length > 0) points.push(...drawn(limit - points.length, child, isNew));
      return [...points, ...drawn(limit - points.length, () => randomPoint(space, random), isNew)];
    },
    observe(observations) {
      for (const { point, cost } of observations) if (cost !== null) costs.set(point.join(), { point, cost });
      const best = [...costs.values()].sort((a, b) => a.cost - b.cost).slice(0, SURVIVORS);
      survivors = best.map(({ point }) => point);
    },
  };
};
