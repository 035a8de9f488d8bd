// From what is locked to decisions. Pure.
import { isConfiguration } from '../backend/index.ts';
import { gainOf, passedOver, skipped, type Decision, type Made } from '../decision/decision.ts';
import { isTunable, type InputOperation, type TunableOperation } from '../input/operation.ts';
import { workloadRank } from '../workload/workload.ts';
import type { LockedWorkload } from './lock.ts';

/** Decisions for the operations whose workloads are locked with something that fits them. */
export function madeOf(
  operations: readonly InputOperation[],
  locked: ReadonlyMap<string, LockedWorkload>,
): Made {
  const fitting = operations.filter(isTunable).filter(({ key, workload }) => {
    const entry = locked.get(key);
    return (
      entry !== undefined &&
      (entry.kind === 'unknown' || isConfiguration(entry.configuration, workloadRank(workload)))
    );
  });
  return {
    keys: new Set(fitting.map(({ key }) => key)),
    decide: (operation) => decide(operation, locked.get(operation.key)!),
  };
}

function decide(tunable: TunableOperation, locked: LockedWorkload): Decision {
  const { place } = tunable;
  if (locked.kind === 'unknown' || locked.kind === 'left-out')
    return passedOver(place, tunable, 'default', `locked: ${locked.because}`);
  const { configuration } = locked;
  const nothing = { evidence: null, record: null };
  return locked.kind === 'program'
    ? { place, tunable, outcome: 'hit', reason: `locked: ${locked.because}`, configuration, ...nothing }
    : {
        ...{ place, tunable, outcome: 'hit', configuration, ...nothing },
        reason: `locked: ${gainOf(configuration, locked.speedup)}`,
        speedup: locked.speedup,
      };
}

/** Decisions for all operations: those that are made, and the default for what is open. */
export const decideAll = (operations: readonly InputOperation[], made: Made, whyNot: string): Decision[] =>
  operations.map((operation) => {
    if (!isTunable(operation)) return skipped(operation);
    return made.keys.has(operation.key)
      ? made.decide(operation)
      : passedOver(operation.place, operation, 'default', whyNot);
  });
