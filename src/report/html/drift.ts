// The same workload on the same target and device by different compilers. Pure.
import type { TuningRecord } from '../../store/store.ts';
import type { DriftPair } from './data.ts';

/** Numbers of a compiler's version: [3, 13, 0] for `iree 3.13.0rc20261016@abc`; empty without numbers. */
const versionOf = (compiler: string): number[] =>
  (/(\d+)\.(\d+)(?:\.(\d+))?/.exec(compiler) ?? []).slice(1).map((digits) => Number(digits) || 0);

/** Older versions first. Equal versions are ordered by their keys, which have the date of a candidate. */
export function compareCompilers(a: string, b: string): number {
  const [x, y] = [versionOf(a), versionOf(b)];
  for (let i = 0; i < 3; i++) if ((x[i] ?? 0) !== (y[i] ?? 0)) return (x[i] ?? 0) - (y[i] ?? 0);
  return a < b ? -1 : a > b ? 1 : 0;
}

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
