// The alternative of a decision: the best configuration of the other kind (see program-needs.ts).
import { isDefault } from '../backend/configuration.ts';
import type { Race } from './final-race.ts';
import { SCREENING_ERROR, type Ranks } from './ranks.ts';
import { decisionOf, type Searched, type TuningResult } from './result.ts';
import { isAlternative, isSameKind } from './program-needs.ts';
import type { Rated } from './worth.ts';

/** Finalists if others are further behind, or if the gain is small. There each finalist is a chance of a false claim: see `rule.ts`. */
const FEW = 4;
const PLAIN_RATIO = 1.1;

/** The best configurations, and others that may be better. Among several is the best of the other kind. */
export function finalistsOf(ranks: Ranks, most: number): Rated[] {
  const ranked = ranks.best(most);
  const [first] = ranked;
  if (first === undefined || most === 1) return ranked;
  const close = first.ratio < PLAIN_RATIO ? Infinity : (1 - SCREENING_ERROR) * first.ratio;
  const best = ranked.filter(({ ratio }, i) => i < FEW || ratio >= close);
  const alternative = ranks.best(Infinity).find((one) => isAlternative(first, one));
  return alternative === undefined || best.some((one) => isSameKind(one, alternative))
    ? best
    : [...best.slice(0, most - 1), alternative];
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
