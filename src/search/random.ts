import { drawn, randomPoint, unseen, type StrategyFactory } from './strategy.ts';

/** Independent uniform draws: the baseline for all other strategies. */
export const randomSearch: StrategyFactory = (space, random) => {
  const isNew = unseen(space);
  return {
    name: 'random',
    propose: (limit) => drawn(limit, () => randomPoint(space, random), isNew),
    observe() {},
  };
};
