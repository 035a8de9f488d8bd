// Workloads for which a compiler's own default became slower than an older compiler's.
import { geometricMean, type Interval } from '../measure/statistics.ts';
import { buildCandidates } from '../measure/build.ts';
import { stockCandidate } from '../measure/candidate-module.ts';
import { timeCandidates } from '../measure/benchmark.ts';
import { comparisonOf, inPairs, LEAST_PAIRS } from '../measure/compare-modules.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import type { RecordKey, TuningRecord } from '../store/store.ts';
import { because, type Reason } from '../system/reason.ts';
import type { OperationWork } from '../workload/workload.ts';
import { DEFAULT_NAME } from './timer.ts';

/** A workload on one device. */
type Place = Pick<RecordKey, 'workload' | 'target' | 'device'>;

/** The newer default's time over the older default's time; above 1 is slower. */
export interface DefaultChange extends Place, Interval {
  readonly oldSeconds: number;
  readonly newSeconds: number;
  /** Whether both were timed in turns now, or each when its record was made. */
  readonly source: 'measured' | 'recorded';
}

/** The same code may take this much longer on another day: operands lie elsewhere, and other work runs. */
const ANOTHER_DAY = 1.2;

/** Least loss that counts if both were timed in turns. */
const IN_TURNS = 1.02;

/** Whether the lower bound exceeds the noise of its source. */
export const isRegression = ({ low, source }: DefaultChange): boolean =>
  low > (source === 'measured' ? IN_TURNS : ANOTHER_DAY);

/** Sorts the greatest loss first. */
export const byLoss = (a: DefaultChange, b: DefaultChange): number => b.ratio - a.ratio;

/** Changes by records: workloads with a record of both compilers, on the same device and for the same target. */
export function recordedChanges(
  records: readonly TuningRecord[],
  older: string,
  newer: string,
): DefaultChange[] {
  const placeOf = ({ workload, target, device }: RecordKey) => JSON.stringify([workload, target, device]);
  const before = new Map(
    records.filter(({ compiler }) => compiler === older).map((record) => [placeOf(record), record.evidence]),
  );
  return records.flatMap((record): DefaultChange[] => {
    const old = before.get(placeOf(record));
    if (record.compiler !== newer || old === undefined) return [];
    const { workload, target, device, evidence } = record;
    const ratio = evidence.defaultSeconds / old.defaultSeconds;
    const doubt = (1 + evidence.noiseFloor) * (1 + old.noiseFloor);
    const interval = { ratio, low: ratio / doubt, high: ratio * doubt };
    const seconds = { oldSeconds: old.defaultSeconds, newSeconds: evidence.defaultSeconds };
    return [{ workload, target, device, ...interval, ...seconds, source: 'recorded' }];
  });
}

const PAIRS = 8;
const REPETITIONS = 3;
const LEAST_SECONDS = 0.02;

/**
 * Compiles a workload with both compilers and times the two modules in turns, each with the runtime of its own release.
 * @param seconds of timing, about
 * @returns why the two cannot be compared if they cannot
 * @throws StoppedError
 */
export async function measuredChange(
  place: Place,
  workload: OperationWork,
  { older, newer }: { readonly older: Toolchain; readonly newer: Toolchain },
  seconds: number,
): Promise<DefaultChange | Reason> {
  const modules = new Map<Toolchain, string>();
  for (const toolchain of [older, newer]) {
    const { module, refused } = await buildCandidates(
      toolchain,
      workload,
      [stockCandidate(DEFAULT_NAME)],
      'stock',
    );
    if (module === null) return because('compile-failed', refused.get(DEFAULT_NAME) ?? 'it does not compile');
    modules.set(toolchain, module);
  }
  const failures: string[] = [];
  const time = async (toolchain: Toolchain): Promise<number> => {
    const options = { repetitions: REPETITIONS, minSeconds: LEAST_SECONDS, timeoutSeconds: 60 };
    const timed = await timeCandidates(toolchain, workload, modules.get(toolchain)!, [DEFAULT_NAME], options);
    failures.push(...timed.failed.values());
    const own = timed.seconds.get(DEFAULT_NAME);
    return own === undefined ? NaN : geometricMean(own);
  };
  const extent = { pairs: PAIRS, seconds, leastSeconds: 2 * seconds };
  const measured = await inPairs(newer, older, extent, time);
  const pairs = measured.filter((pair) => pair.every(Number.isFinite));
  if (pairs.length < LEAST_PAIRS)
    return because('not-timed', failures[0] ?? 'it takes too long to be timed often enough');
  const { ratio, low, high, seconds: times } = comparisonOf(pairs);
  return { ...place, ratio, low, high, oldSeconds: times[1], newSeconds: times[0], source: 'measured' };
}
