// The alternative of a decision: the best configuration of the other kind (see program-needs.ts).
import { isDefault } from '../backend/configuration.ts';
import type { Race } from './final-race.ts';
import type { Ranks } from './ranks.ts';
import { decisionOf, type Searched, type TuningResult } from './result.ts';
import { isAlternative, isSameKind } from './program-needs.ts';
import type { Rated } from './worth.ts';

/** The best configurations. Among several is the best of the other kind. */
export function finalistsOf(ranks: Ranks, count: number): Rated[] {
  const best = ranks.best(count);
  const [first] = best;
  if (first === undefined || count === 1) return best;
  const alternative = ranks.best(Infinity).find((one) => isAlternative(first, one));
  return alternative === undefined || best.some((one) => isSameKind(one, alternative))
    ? best
    : [...best.slice(0, count - 1), alternative];
}

/**
 * The alternative of a decision for a configuration.
 * @returns null if no configuration of the other kind is surely faster than the default, or if its lower bound is the higher one
 */
export function alternativeOf(best: TuningResult, raced: Race, searched: Searched): TuningResult | null {
  const { configuration, evidence } = best;
  if (isDefault(configuration)) return null;
  const rated = { configuration, ratio: evidence.ratio };
  const standings = raced.standings.filter((one) => isAlternative(rated, one));
  const alternative = decisionOf({ ...raced, standings }, searched);
  return isDefault(alternative.configuration) || alternative.evidence.low >= evidence.low
    ? null
    : alternative;
}
