// Workloads for which a compiler's own default became slower than an older compiler's, by their records.
import type { Interval } from '../measure/statistics.ts';
import type { RecordKey, TuningRecord } from '../store/store.ts';

/** The newer default's time over the older default's time, on one device; above 1 is slower. */
export interface DefaultChange extends Pick<RecordKey, 'workload' | 'target' | 'device'>, Interval {
  readonly oldSeconds: number;
  readonly newSeconds: number;
}

/** The same code may take this much longer on another day: operands lie elsewhere, and other work runs. */
const ANOTHER_DAY = 1.2;

/** Whether the lower bound exceeds the noise between two days. */
export const isRegression = ({ low }: Interval): boolean => low > ANOTHER_DAY;

/** Workloads with a record of both compilers, on the same device and for the same target; the greatest loss first. */
export function recordedChanges(
  records: readonly TuningRecord[],
  older: string,
  newer: string,
): DefaultChange[] {
  const placeOf = ({ workload, target, device }: RecordKey) => JSON.stringify([workload, target, device]);
  const before = new Map(
    records.filter(({ compiler }) => compiler === older).map((record) => [placeOf(record), record.evidence]),
  );
  return records
    .flatMap((record): DefaultChange[] => {
      const old = before.get(placeOf(record));
      if (record.compiler !== newer || old === undefined) return [];
      const { workload, target, device, evidence } = record;
      const ratio = evidence.defaultSeconds / old.defaultSeconds;
      const doubt = (1 + evidence.noiseFloor) * (1 + old.noiseFloor);
      const interval = { ratio, low: ratio / doubt, high: ratio * doubt };
      const seconds = { oldSeconds: old.defaultSeconds, newSeconds: evidence.defaultSeconds };
      return [{ workload, target, device, ...interval, ...seconds }];
    })
    .sort((a, b) => b.ratio - a.ratio);
}
