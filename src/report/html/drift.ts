// The same workload on the same target and device by different compilers. Pure.
import type { TuningRecord } from '../../store/store.ts';
import type { DriftPair } from './data.ts';

/** Orders keys such as `3.13.0rc20261016@abc`: older versions first, keys without a version last. */
export const compareCompilers = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** Pairs of usable records of successive compilers, as indices of `records`. */
export function driftPairs(records: readonly TuningRecord[]): DriftPair[] {
  const groups = Map.groupBy(
    [...records.keys()].filter((i) => records[i]!.failure === null),
    (i) => JSON.stringify([records[i]!.workload, records[i]!.target, records[i]!.device]),
  );
  return [...groups.values()].flatMap((group): DriftPair[] => {
    const inOrder = group.toSorted((a, b) => compareCompilers(records[a]!.compiler, records[b]!.compiler));
    return inOrder.slice(1).map((after, i) => ({ before: inOrder[i]!, after }));
  });
}
