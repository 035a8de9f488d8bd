// What every operation of one compile gets, and why.
import type { Alike, Place, Skipped, TunableOperation } from '../input/operation.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';
import type { Evidence, Speedup, TuningRecord, RecordKey } from '../store/store.ts';
import { because, type Reason } from '../system/reason.ts';

export type Outcome = 'hit' | 'tuned' | 'default' | 'skipped';

export interface Decision extends Reason {
  readonly place: Place;
  /** Null for an operation that was skipped before it had a workload. */
  readonly tunable: TunableOperation | null;
  /** For a skipped operation: the form of those that no matcher can tell from it. */
  readonly alike?: Alike;
  readonly outcome: Outcome;
  /** Null when nothing is known; `kind: 'default'` when the default was measured to be best. */
  readonly configuration: Configuration | null;
  readonly evidence: Evidence | null;
  /** What is known of the evidence where that is elsewhere: in a database that a lock file was made from. */
  readonly speedup?: Speedup | null;
  /** Key of the record that says so: on another device, perhaps. Null where there is no configuration. */
  readonly record: RecordKey | null;
  /**
   * The best of the other sort: where the configuration asks something of the whole program, one that does not, and the other
   * way round. See `TuningRecord.alternative`.
   */
  readonly alternative?: Decision;
}

/** A decision that has something to inject. */
export type Injected = Decision & {
  readonly tunable: TunableOperation;
  readonly configuration: Exclude<Configuration, { kind: 'default' }>;
};

export const isInjected = (decision: Decision): decision is Injected =>
  decision.configuration !== null && !isDefault(decision.configuration);

/**
 * The same decisions, except that operations stay on the default where there is a reason for that, or get what asks nothing of
 * the program where there is none against that.
 * @param reasonFor of a workload's key, and of the configuration that it would get; null where there is none, in either
 */
export const leaveOut = (
  decisions: readonly Decision[],
  reasonFor: (key: string, configuration: Configuration | null) => Reason | null,
): readonly Decision[] =>
  decisions.map((decision) => {
    const { tunable, place, configuration } = decision;
    const why = tunable && reasonFor(tunable.key, configuration);
    if (why === null) return decision;
    const plain = plainAlternative(decision);
    if (plain !== null && reasonFor(tunable!.key, plain.configuration) === null)
      return { ...plain, reason: `${plain.reason}; what is faster alone is left out: ${why.reason}` };
    return passedOver(place, tunable, 'default', why);
  });

/** What asks nothing of the program, beside a configuration that does; null where there is none. */
export const plainAlternative = ({ configuration, alternative }: Decision): Decision | null =>
  needsOf(configuration) === null ? null : (alternative ?? null);

export function passedOver(
  place: Place,
  tunable: TunableOperation | null,
  outcome: 'default' | 'skipped',
  why: Reason,
  alike: Alike | null = null,
): Decision {
  const nothing = { configuration: null, evidence: null, record: null };
  return { place, tunable, outcome, ...why, ...nothing, ...(alike && { alike }) };
}

/** The decision about an operation that is not tuned. */
export const skipped = ({ place, skipped: why, alike }: Skipped): Decision =>
  passedOver(place, null, 'skipped', why, alike);

/** Decides about operations before anything is looked up; null for those that are to be looked up. */
export type Override = (operation: TunableOperation) => Decision | null;

/** What of a record says what to do, and why. */
export type Recorded = Pick<TuningRecord, 'configuration' | 'evidence' | keyof RecordKey> & {
  readonly alternative?: Pick<TuningRecord, 'configuration' | 'evidence'>;
};

/**
 * The decision that a record makes for an operation.
 * @param relation how another device is related to this one, for people
 */
export function decided(
  tunable: TunableOperation,
  record: Recorded,
  outcome: 'hit' | 'tuned',
  device: string,
  relation = '',
): Decision {
  const { configuration, evidence, workload, target, compiler, alternative } = record;
  const key = { workload, target, device: record.device, compiler };
  const where = record.device === device ? '' : `, measured on ${record.device}${relation}`;
  const { code, reason } = verdictOf(configuration, evidence);
  return {
    place: tunable.place,
    tunable,
    outcome,
    ...because(code, reason + where),
    configuration,
    evidence,
    record: key,
    ...(alternative && {
      alternative: decided(tunable, { ...alternative, ...key }, outcome, device, relation),
    }),
  };
}

/** What a search has come to, in words. */
export const verdictOf = (configuration: Configuration, evidence: Evidence): Reason =>
  isDefault(configuration) && !evidence.complete
    ? because('search-unfinished')
    : gainOf(configuration, evidence);

/** What a configuration is worth, in words. */
export const gainOf = (configuration: Configuration, { ratio }: Speedup): Reason =>
  isDefault(configuration)
    ? because('default-best')
    : because('faster', `${ratio.toFixed(2)}x faster than the default`);
