// What every operation of one compile gets, and why.
import type { Operation } from 'mlir-parser-ts';
import type { Configuration } from '../space/configuration.ts';
import type { Evidence, TuningRecord } from '../store/store.ts';
import { workloadOf } from '../workload/from-operation.ts';
import { workloadKey, type Workload } from '../workload/workload.ts';

export type Outcome = 'hit' | 'tuned' | 'default' | 'skipped';

/** An operation that has a workload. */
export interface TunableOperation {
  readonly operation: Operation;
  readonly workload: Workload;
  readonly key: string;
  /** For each loop of the operation, outermost first, the index into `workload.dimensions`. */
  readonly loops: readonly number[];
}

export interface Decision {
  readonly operation: Operation;
  /** Null for an operation that was skipped before it had a workload. */
  readonly tunable: TunableOperation | null;
  readonly outcome: Outcome;
  readonly reason: string;
  /** Null when nothing is known; `kind: 'default'` when the default was measured to be best. */
  readonly configuration: Configuration | null;
  readonly evidence: Evidence | null;
}

/**
 * Sorts operations into those that can be tuned and those that are skipped, with the reason.
 * @param convert what the compile makes of an element type before code is generated
 */
export function classify(
  operations: readonly Operation[],
  convert?: (elementType: string) => string,
): (TunableOperation | Decision)[] {
  return operations.map((operation) => {
    const result = workloadOf(operation, convert);
    if ('skipped' in result) return passedOver(operation, null, 'skipped', result.skipped);
    return { operation, key: workloadKey(result.workload), ...result };
  });
}

export const isDecision = (value: TunableOperation | Decision): value is Decision => 'outcome' in value;

export function passedOver(
  operation: Operation,
  tunable: TunableOperation | null,
  outcome: 'default' | 'skipped',
  reason: string,
): Decision {
  return { operation, tunable, outcome, reason, configuration: null, evidence: null };
}

/**
 * The record to use: one measured on this very device, else, when tuning here is impossible, the best one of another
 * device. A record that failed or whose gain is not beyond doubt is never used.
 */
export function chooseRecord(
  records: readonly TuningRecord[],
  device: string,
  canTuneHere: boolean,
): TuningRecord | null {
  const usable = records.filter(
    ({ failure, configuration, evidence }) =>
      failure === null && (configuration.kind === 'default' || evidence.low > 1),
  );
  const own = usable.find((record) => record.device === device);
  if (own !== undefined || canTuneHere) return own ?? null;
  return usable.toSorted((a, b) => b.evidence.low - a.evidence.low)[0] ?? null;
}

/** The decision that a record makes for an operation. */
export function decided(
  tunable: TunableOperation,
  record: Pick<TuningRecord, 'configuration' | 'evidence' | 'device'>,
  outcome: 'hit' | 'tuned',
  device: string,
): Decision {
  const { configuration, evidence } = record;
  const where = record.device === device ? '' : `, measured on ${record.device}`;
  const what =
    configuration.kind === 'default'
      ? 'the default is best'
      : `${evidence.ratio.toFixed(2)}x faster than the default`;
  return { operation: tunable.operation, tunable, outcome, reason: what + where, configuration, evidence };
}
