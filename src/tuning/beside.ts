// What is decided beside the best: the best of the other sort.
import { isDefault } from '../backend/configuration.ts';
import type { Race } from './final-race.ts';
import type { Ranked, Ranks } from './ranks.ts';
import { decisionOf, type Searched, type TuningResult } from './result.ts';
import { isBeside, isSameSort } from './sorts.ts';

/** The best, and among several the best of the other sort. */
export function finalistsOf(ranks: Ranks, count: number): Ranked[] {
  const best = ranks.best(count);
  const [first] = best;
  if (first === undefined || count === 1) return best;
  const beside = ranks.best(Infinity).find((one) => isBeside(first, one));
  return beside === undefined || best.some((one) => isSameSort(one, beside))
    ? best
    : [...best.slice(0, count - 1), beside];
}

/**
 * What is decided beside the decision for a configuration. Null where nothing of the other sort is surely faster than the default,
 * and where it would be taken for the better one: what is surely gained counts there.
 */
export function besideOf(best: TuningResult, raced: Race, searched: Searched): TuningResult | null {
  const { configuration, evidence } = best;
  if (isDefault(configuration)) return null;
  const standings = raced.standings.filter((one) => isBeside({ configuration, ratio: evidence.ratio }, one));
  const beside = decisionOf({ ...raced, standings }, searched);
  return isDefault(beside.configuration) || beside.evidence.low >= evidence.low ? null : beside;
}
