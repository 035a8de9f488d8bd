// From locked workloads to decisions. Pure.
import { isConfiguration } from '../../backend/index.ts';
import { gainOf, passedOver, skipped, type Decision, type Override } from '../decision.ts';
import { isTunable, type InputOperation, type TunableOperation } from '../../input/operation.ts';
import { workloadRank } from '../../workload/workload.ts';
import type { LockedWorkload } from './lock.ts';
import { because, type Reason } from '../../system/reason.ts';

/** Decides about operations whose workloads are locked with a valid configuration. */
export const overrideOf =
  (locked: ReadonlyMap<string, LockedWorkload>): Override =>
  (operation) => {
    const entry = locked.get(operation.key);
    if (entry === undefined) return null;
    const rank = workloadRank(operation.workload);
    return entry.kind === 'unknown' || isConfiguration(entry.configuration, rank)
      ? decide(operation, entry)
      : null;
  };

function decide(tunable: TunableOperation, locked: LockedWorkload): Decision {
  const { place } = tunable;
  if (locked.kind === 'unknown' || locked.kind === 'left-out')
    return passedOver(place, tunable, 'default', because('locked', `locked: ${locked.because}`));
  const { configuration } = locked;
  const nothing = { evidence: null, record: null };
  const decision = { place, tunable, outcome: 'hit', configuration, ...nothing } as const;
  if (locked.kind === 'program') return { ...decision, ...because('locked', `locked: ${locked.because}`) };
  const { speedup } = locked;
  return { ...decision, ...because('locked', `locked: ${gainOf(configuration, speedup).reason}`), speedup };
}

/** Decisions about all operations: of the override, else the default with the reason `whyNot`. */
export const decideAll = (
  operations: readonly InputOperation[],
  override: Override,
  whyNot: Reason,
): Decision[] =>
  operations.map((operation) =>
    isTunable(operation)
      ? (override(operation) ?? passedOver(operation.place, operation, 'default', whyNot))
      : skipped(operation),
  );
