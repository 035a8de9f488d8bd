// Curves of searches: the best result so far, trial by trial. Pure.
import { isDefault } from '../../backend/configuration.ts';
import type { Trial } from '../../store/store.ts';
import type { SearchCurve } from './data.ts';
import { short } from './numbers.ts';

/**
 * The steps of one search; null if no configuration but the default was timed.
 * @param trials in the order of the search
 */
export function curveOf(record: number, trials: readonly Trial[]): SearchCurve | null {
  const steps: [number, number][] = [];
  const failed: Record<string, number> = {};
  let [measured, best] = [0, 1];
  const tried = trials.filter(({ configuration }) => !isDefault(configuration));
  for (const [i, { outcome, ratio }] of tried.entries()) {
    if (outcome !== 'measured') {
      failed[outcome] = (failed[outcome] ?? 0) + 1;
      continue;
    }
    measured++;
    if (ratio === null || !(ratio > best)) continue;
    best = ratio;
    steps.push([i + 1, short(ratio, 3)]);
  }
  return tried.length === 0 ? null : { record, measured, failed, steps };
}
