// The search strategies by name.
import { coordinateDescent } from './descent.ts';
import { guidedSearch } from './guided.ts';
import { gridSearch } from './grid.ts';
import { randomSearch } from './random.ts';
import type { StrategyFactory } from './strategy.ts';

export const STRATEGIES: Readonly<Record<string, StrategyFactory>> = {
  guided: guidedSearch,
  descent: coordinateDescent,
  random: randomSearch,
  grid: gridSearch,
};

export { guidedSearch as defaultStrategy };
