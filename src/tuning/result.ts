// From timings to a decision with its evidence.
import { DEFAULT_CONFIGURATION, type Configuration } from '../backend/configuration.ts';
import { geometricMean, largestDeviation } from '../measure/statistics.ts';
import type { Evidence, TuningRecord } from '../store/store.ts';
import { winner, type Race } from './final-race.ts';

export interface TuningResult {
  readonly configuration: Configuration;
  readonly evidence: Evidence;
  /** See `TuningRecord.alternative`. */
  readonly alternative?: Pick<TuningRecord, 'configuration' | 'evidence'>;
}

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
