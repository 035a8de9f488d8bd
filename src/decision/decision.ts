// What every operation of one compile gets, and why.
import type { Operation } from 'mlir-parser-ts';
import type { Configuration } from '../space/configuration.ts';
import type { Evidence, TuningRecord } from '../store/store.ts';
import { workloadOf, type OperationWorkload } from '../workload/from-operation.ts';
import { atSizes, type TunedSizes } from '../workload/sizes.ts';
import { workloadKey, type Workload } from '../workload/workload.ts';

export type Outcome = 'hit' | 'tuned' | 'default' | 'skipped';

/** Where an operation stands. */
export interface Site {
  /** Such as `linalg.matmul`. */
  readonly name: string;
  /** The operation in the text of the input; null when the input is not such a text. */
  readonly operation: Operation | null;
  /** What the compiler calls the place, `file:line:column`; null when it is to be seen in the text. */
  readonly location: string | null;
}

/** An operation that has a workload. */
export interface TunableOperation {
  readonly site: Site;
  /** What code is generated for. */
  readonly workload: Workload;
  readonly key: string;
  /** For each loop of that, outermost first, the index into `workload.dimensions`. */
  readonly loops: readonly number[];
  /**
   * The operation as it is written, before the compiler optimises anything; null when it is the compiler that makes
   * it. Its dimensions are those of `workload`, dynamic ones without sizes.
   */
  readonly written: OperationWorkload | null;
}

/** What an operation is found by. */
export type Alike = Pick<TunableOperation, 'workload' | 'loops' | 'written'>;

export interface Decision {
  readonly site: Site;
  /** Null for an operation that was skipped before it had a workload. */
  readonly tunable: TunableOperation | null;
  /** For a skipped operation: the form of those that no matcher can tell from it. */
  readonly alike?: Alike;
  readonly outcome: Outcome;
  readonly reason: string;
  /** Null when nothing is known; `kind: 'default'` when the default was measured to be best. */
  readonly configuration: Configuration | null;
  readonly evidence: Evidence | null;
}

/**
 * Sorts operations into those that can be tuned and those that are skipped, with the reason.
 * @param sizes for dynamic dimensions
 * @param convert what the compile makes of an element type before code is generated
 */
export function classify(
  operations: readonly Operation[],
  sizes: TunedSizes,
  convert?: (elementType: string) => string,
): (TunableOperation | Decision)[] {
  return operations.map((operation) => {
    const site = { name: operation.name, operation, location: null };
    const result = workloadOf(operation, convert);
    if ('skipped' in result) {
      const { skipped, alike } = result;
      return passedOver(site, null, 'skipped', skipped, alike && { ...alike, written: alike });
    }
    return tunable(site, result, result, sizes);
  });
}

/**
 * An operation with what code is generated for, as far as that can be tuned.
 * @param sizes for dynamic dimensions
 */
export function tunable(
  site: Site,
  generated: Pick<OperationWorkload, 'workload' | 'loops'>,
  written: OperationWorkload | null,
  sizes: TunedSizes,
): TunableOperation | Decision {
  const workload = atSizes(generated.workload, sizes);
  if ('skipped' in workload) return passedOver(site, null, 'skipped', workload.skipped);
  return { site, key: workloadKey(workload), workload, loops: generated.loops, written };
}

/** A decision that has something to inject. */
export type Injected = Decision & {
  readonly tunable: TunableOperation;
  readonly configuration: Exclude<Configuration, { kind: 'default' }>;
};

export const isInjected = (decision: Decision): decision is Injected =>
  decision.configuration !== null && decision.configuration.kind !== 'default';

/** The same decisions, except that operations with one of the keys stay on the default for that reason. */
export const leaveOut = (
  decisions: readonly Decision[],
  keys: readonly string[],
  reason: string,
): readonly Decision[] =>
  decisions.map((decision) =>
    decision.tunable !== null && decision.configuration !== null && keys.includes(decision.tunable.key)
      ? passedOver(decision.site, decision.tunable, 'default', reason)
      : decision,
  );

export const isDecision = (value: TunableOperation | Decision): value is Decision => 'outcome' in value;

export function passedOver(
  site: Site,
  tunable: TunableOperation | null,
  outcome: 'default' | 'skipped',
  reason: string,
  alike: Alike | null = null,
): Decision {
  return { site, tunable, outcome, reason, configuration: null, evidence: null, ...(alike && { alike }) };
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
      ? evidence.complete
        ? 'the default is best'
        : 'nothing faster than the default was found so far'
      : `${evidence.ratio.toFixed(2)}x faster than the default`;
  return { site: tunable.site, tunable, outcome, reason: what + where, configuration, evidence };
}
