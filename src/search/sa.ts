// Simulated annealing: chains of small steps. The chance to accept a slower point falls with each trial.
import type { Point, SearchSpace } from './space.ts';
import { drawn, randomPoint, unseen, type Random, type StrategyFactory } from './strategy.ts';

/** Number of parallel chains. */
const CHAINS = 16;

/** First temperature: natural logarithm of a slowdown that is accepted with a chance of 1/e. */
const TEMPERATURE = 0.3;

/** Factor of the temperature after each trial. */
const COOLING = 0.98;

/** Chance that a step changes another knob too. */
const ANOTHER = 0.3;

interface Chain {
  point: Point;
  /** Natural logarithm of its cost; infinite before its measurement. */
  cost: number;
}

function step(point: Point, { knobs }: SearchSpace, random: Random): Point {
  let next = point;
  do {
    const knob = Math.floor(random() * knobs.length);
    const last = knobs[knob]!.values.length - 1;
    const moved = next[knob]! + Math.round((random() - 0.5) * 5);
    next = next.with(knob, Math.min(last, Math.max(0, moved)));
  } while (random() < ANOTHER);
  return next;
}

export const annealingSearch: StrategyFactory = (space, random) => {
  const isNew = unseen(space);
  const chains: Chain[] = [];
  /** For each proposed point, the chain that it is a step of. */
  const stepOf = new Map<string, Chain>();
  const starts = space.starts.filter(isNew);
  let [next, temperature] = [0, TEMPERATURE];
  const noted = (chain: Chain, point: Point): Point => {
    stepOf.set(point.join(), chain);
    return point;
  };
  return {
    name: 'sa',
    propose(limit) {
      const points: Point[] = [];
      while (points.length < limit) {
        if (chains.length < CHAINS) {
          const point = starts.shift() ?? drawn(1, () => randomPoint(space, random), isNew)[0];
          if (point === undefined) break;
          chains.push({ point, cost: Infinity });
          points.push(noted(chains.at(-1)!, point));
          continue;
        }
        const chain = chains[next++ % CHAINS]!;
        const near = drawn(1, () => step(chain.point, space, random), isNew);
        const [point] = near.length > 0 ? near : drawn(1, () => randomPoint(space, random), isNew);
        if (point === undefined) break;
        points.push(noted(chain, point));
      }
      return points;
    },
    observe(observations) {
      for (const { point, cost } of observations) {
        const chain = stepOf.get(point.join());
        if (chain === undefined || cost === null) continue;
        const own = Math.log(cost);
        if (own <= chain.cost || random() < Math.exp((chain.cost - own) / temperature))
          Object.assign(chain, { point, cost: own });
        temperature *= COOLING;
      }
    },
  };
};
