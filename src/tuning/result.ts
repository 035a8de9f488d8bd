// From timings to a decision with its evidence.
import { DEFAULT_CONFIGURATION, isDefault } from '../backend/configuration.ts';
import { geometricMean, largestDeviation } from '../measure/statistics.ts';
import type { Evidence, TuningRecord } from '../store/store.ts';
import { winner, type Race } from './final-race.ts';
import { isAlternative } from './worth.ts';

/** A decision, or the record that the database has for it. */
export type TuningResult = Pick<TuningRecord, 'configuration' | 'evidence' | 'alternative' | 'base'>;

/** Fields of the evidence that describe the search. */
export type Searched = Pick<Evidence, 'trials' | 'tuningSeconds' | 'families' | 'complete'>;

/** Evidence of the default against itself. */
const itself = (defaultSeconds: number) => ({
  ...{ ratio: 1, low: 1, high: 1, maxError: 0 },
  ...{ defaultSeconds, seconds: defaultSeconds },
});

/** The decision of a race. */
export function decisionOf(raced: Race, searched: Searched): TuningResult {
  const best = winner(raced);
  const { noiseFloor } = raced;
  const { processes, repetitions, defaultSeconds } = best ?? raced;
  const common = { defaultSeconds, processes, repetitions, noiseFloor, ...searched };
  if (best === null) {
    // An undecided finalist may still be faster than the default.
    const complete = searched.complete && !raced.standings.some(({ verdict }) => verdict === 'undecided');
    const evidence = { ...common, ...itself(defaultSeconds), complete };
    return { configuration: DEFAULT_CONFIGURATION, evidence };
  }
  const { configuration, ratio, low, high, seconds, maxError } = best;
  return { configuration, evidence: { ...common, ratio, low, high, seconds, maxError } };
}

/**
 * The alternative of a decision for a configuration: the best of the other kind (see `isSameKind`).
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

/**
 * The decision for the default, from the batches of a search.
 * @param timed seconds of the default in each batch, over sizes the geometric means, and all repetitions
 */
export function defaultResult(
  { means, repetitions }: { readonly means: readonly number[]; readonly repetitions: number },
  searched: Searched,
): TuningResult {
  const processes = means.length;
  const noiseFloor = largestDeviation(means);
  const evidence = { ...itself(geometricMean(means)), processes, repetitions, noiseFloor, ...searched };
  return { configuration: DEFAULT_CONFIGURATION, evidence };
}
