// The search strategies by name.
import { coordinateDescent } from './descent.ts';
import { geneticSearch } from './ga.ts';
import { guidedSearch } from './guided.ts';
import { gridSearch } from './grid.ts';
import { randomSearch } from './random.ts';
import { annealingSearch } from './sa.ts';
import { boostedSearch } from './xgb.ts';
import type { StrategyFactory } from './strategy.ts';

export const STRATEGIES: Readonly<Record<string, StrategyFactory>> = {
  guided: guidedSearch,
  descent: coordinateDescent,
  random: randomSearch,
  grid: gridSearch,
  ga: geneticSearch,
  sa: annealingSearch,
  xgb: boostedSearch,
};

export { guidedSearch as defaultStrategy };
