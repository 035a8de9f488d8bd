// A search without a prior: boosted trees learn from its trials and predict the cost of points.
import { boost, type BoostOptions } from './boost.ts';
import { predict } from './forest.ts';
import { neighbours, type Point } from './space.ts';
import { drawn, randomPoint, unseen, type StrategyFactory } from './strategy.ts';

const BOOST: BoostOptions = {
  ...{ trees: 40, depth: 4, rate: 0.2, leastWeight: 2 },
  ...{ sampleShare: 0.9, featureShare: 0.8, shrinkage: 1 },
};

/** Random points in each prediction. */
const POOL = 500;

/** Number of the best trials whose neighbours are in each prediction. */
const BEST = 8;

/** Measured trials before the first prediction. */
const LEAST_TRIALS = 8;

/** Share of random points, which also test points with slow predictions. */
const RANDOM_SHARE = 0.1;

/** Cost of a failed trial, as a base-2 logarithm relative to the slowest trial. */
const FAILED = 1;

export const boostedSearch: StrategyFactory = (space, random) => {
  const isNew = unseen(space);
  const trials = new Map<string, { readonly point: Point; readonly cost: number | null }>();
  const numbersOf = (point: Point) =>
    point.map((value, knob) => Math.log2(1 + space.knobs[knob]!.values[value]!));
  const anywhere = () => randomPoint(space, random);
  const measured = () => [...trials.values()].filter(({ cost }) => cost !== null);

  /** Legal starts, neighbours and random points, the lowest predicted cost first. */
  const ranked = (): Point[] => {
    const slowest = Math.max(...measured().map(({ cost }) => Math.log2(cost!)));
    const samples = [...trials.values()].map(({ point, cost }) => ({
      ...{ x: numbersOf(point), weight: 1 },
      y: cost === null ? slowest + FAILED : Math.log2(cost),
    }));
    const forest = boost(samples, BOOST, random);
    const best = measured()
      .sort((a, b) => a.cost! - b.cost!)
      .slice(0, BEST);
    const near = best.flatMap(({ point }) => neighbours(point, space));
    return [...space.starts, ...near, ...Array.from({ length: POOL }, anywhere)]
      .filter((point) => space.configurationAt(point) !== null)
      .map((point) => ({ point, predicted: predict(forest, numbersOf(point)) }))
      .sort((a, b) => a.predicted - b.predicted)
      .map(({ point }) => point);
  };
  return {
    name: 'xgb',
    propose(limit) {
      const isLearnt = measured().length >= LEAST_TRIALS;
      const order = isLearnt ? ranked() : space.starts;
      const room = isLearnt ? Math.ceil(limit * (1 - RANDOM_SHARE)) : limit;
      const points: Point[] = [];
      for (const point of order) {
        if (points.length >= room) break;
        if (isNew(point)) points.push(point);
      }
      return [...points, ...drawn(limit - points.length, anywhere, isNew)];
    },
    observe(observations) {
      for (const { point, cost } of observations) trials.set(point.join(), { point, cost });
    },
  };
};
