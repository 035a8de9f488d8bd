// The decision about one operation of a compile, with its reason.
import type { MatchedOperation, Place, Skipped, TunableOperation } from '../input/operation.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import { needsOf } from '../backend/index.ts';
import type { Evidence, Speedup, TuningRecord, RecordKey } from '../store/store.ts';
import { formatRatio } from '../system/format.ts';
import { because, type Reason } from '../system/reason.ts';

export type Outcome = 'hit' | 'tuned' | 'default' | 'skipped';

export interface Decision extends Reason {
  readonly place: Place;
  /** Null for an operation without a workload. */
  readonly tunable: TunableOperation | null;
  /** For a skipped operation: the form that matchers see. */
  readonly matched?: MatchedOperation;
  /** Backend of the decision's target in a build for several targets; absent in a build for one. */
  readonly target?: string;
  readonly outcome: Outcome;
  /** Null without a record; `kind: 'default'` if the default was measured to be best. */
  readonly configuration: Configuration | null;
  readonly evidence: Evidence | null;
  /** The speedup of a locked record, whose evidence is in the database that the lock file was made from. */
  readonly speedup?: Speedup | null;
  /** Key of the record, perhaps of another device, and the base that has it. Null if no record decides. */
  readonly record: (RecordKey & Pick<TuningRecord, 'base'>) | null;
  /**
   * If the configuration changes the whole program, the best one that does not, and the other way round. See
   * `TuningRecord.alternative`.
   */
  readonly alternative?: Decision;
}

/** A decision with a configuration to inject. */
export type Injected = Decision & {
  readonly tunable: TunableOperation;
  readonly configuration: Exclude<Configuration, { kind: 'default' }>;
};

/** Where a configuration comes from, for people: a database, a lock file, or the run of a program. */
export function sourceOf({ code, record }: Pick<Decision, 'code' | 'record'>): string {
  if (code === 'locked') return 'lock file';
  if (record === null) return 'run of the program';
  return record.base === undefined ? 'own database' : `base ${record.base}`;
}

export const isInjected = (decision: Decision): decision is Injected =>
  decision.configuration !== null && !isDefault(decision.configuration);

/**
 * The decisions without configurations that there is a reason against. Their operations get the alternative that changes only its
 * own operation, if there is no reason against it, else the default.
 * @param reasonFor the reason against a configuration of a workload, by key; null for none
 */
export const leaveOut = (
  decisions: readonly Decision[],
  reasonFor: (key: string, configuration: Configuration | null) => Reason | null,
): readonly Decision[] =>
  decisions.map((decision) => {
    const { tunable, configuration } = decision;
    const why = tunable && reasonFor(tunable.key, configuration);
    if (why === null) return decision;
    const plain = plainAlternative(decision);
    if (plain !== null && reasonFor(tunable!.key, plain.configuration) === null)
      return { ...plain, reason: `${plain.reason}; what is faster alone is left out: ${why.reason}` };
    return passedOver(tunable!, 'default', why);
  });

/**
 * The same decisions, with these configurations in place of their own.
 * @param reason for configurations that change the whole program
 */
export const withConfigurations = (
  decisions: readonly Decision[],
  configurations: ReadonlyMap<string, Configuration>,
  reason = '',
): readonly Decision[] =>
  decisions.map((decision) => {
    const configuration = decision.tunable && configurations.get(decision.tunable.key);
    if (!configuration) return decision;
    const isPlain = isInjected(decision) && needsOf(decision.configuration) === null;
    const plain = isPlain ? decision : plainAlternative(decision);
    return {
      ...decision,
      ...{ configuration, evidence: null, speedup: null, record: null },
      outcome: decision.outcome === 'tuned' ? 'tuned' : 'hit',
      ...(needsOf(configuration) === null ? TOGETHER : because('program-wide', reason)),
      ...(plain && { alternative: plain }),
    };
  });

const TOGETHER = because('faster', 'in this program, which is faster with it and others');

/** The alternative of a configuration that changes the whole program; null for none. */
export const plainAlternative = ({ configuration, alternative }: Decision): Decision | null =>
  needsOf(configuration) === null ? null : (alternative ?? null);

const NOTHING = { configuration: null, evidence: null, record: null };

/** The decision about an operation without a configuration. */
export const passedOver = (
  tunable: TunableOperation,
  outcome: 'default' | 'skipped',
  why: Reason,
): Decision => ({ place: tunable.place, tunable, outcome, ...why, ...NOTHING });

/** The decision about a skipped operation. */
export const skipped = ({ place, code, reason, matched }: Skipped): Decision => ({
  ...{ place, tunable: null, outcome: 'skipped', code, reason, ...NOTHING },
  ...(matched && { matched }),
});

/** Decides about operations before the lookup; null for operations to look up. */
export type Override = (operation: TunableOperation) => Decision | null;

/** The part of a record that makes a decision. */
export type Recorded = Pick<TuningRecord, 'configuration' | 'evidence' | 'base' | keyof RecordKey> & {
  readonly alternative?: Pick<TuningRecord, 'configuration' | 'evidence' | 'base'>;
};

/**
 * The decision that a record makes for an operation.
 * @param relation how another device and another compiler are related to these, for people
 */
export function decided(
  tunable: TunableOperation,
  record: Recorded,
  outcome: 'hit' | 'tuned',
  device: string,
  relation = '',
): Decision {
  const { configuration, evidence, workload, target, compiler, base, alternative } = record;
  const key = { workload, target, device: record.device, compiler };
  const where = `${record.device === device ? '' : `, measured on ${record.device}`}${relation}`;
  const { code, reason } = verdictOf(configuration, evidence);
  return {
    place: tunable.place,
    tunable,
    outcome,
    ...because(code, reason + where),
    configuration,
    evidence,
    record: { ...key, ...(base !== undefined && { base }) },
    ...(alternative && {
      alternative: decided(tunable, { ...alternative, ...key }, outcome, device, relation),
    }),
  };
}

/** The result of a search in words. */
export const verdictOf = (configuration: Configuration, evidence: Evidence): Reason =>
  isDefault(configuration) && !evidence.complete
    ? because('search-unfinished')
    : gainOf(configuration, evidence);

/** The gain of a configuration in words. */
export const gainOf = (configuration: Configuration, { ratio }: Speedup): Reason =>
  isDefault(configuration)
    ? because('default-best')
    : because('faster', `${formatRatio(ratio)} faster than the default`);
