// Looking up every operation: a record, or a reason why there is none.
import {
  chooseRecord,
  decided,
  isDecision,
  passedOver,
  type Decision,
  type TunableOperation,
} from '../decision/decision.ts';
import type { InjectionOptions } from '../inject/plan.ts';
import type { Store, Subject, TuningRecord } from '../store/store.ts';
import type { TuneOutcome } from '../tuner/tune-misses.ts';
import { tunables, type Subjects } from './inspect.ts';

/** Decisions of one compile, with what is still to be tuned. */
export interface Lookup {
  /** Canonical keys without a usable record, each once, in the order of the input. */
  readonly misses: readonly TunableOperation[];
  /** The decisions as things stand, given what was tuned or found since. */
  decide(results: TuneOutcome['results'], whyNot: string): Decision[];
}

/** Looks all operations up at once. */
export function lookUp(store: Store | null, subjects: Subjects): Lookup {
  const wanted = tunables(subjects);
  const keys = [...new Set(wanted.map(({ key }) => key))];
  const records =
    store === null ? [] : store.findRecords(keys, subjects.target.key, subjects.description.key);
  // Whether anybody wants to tune does not matter: what is best on another device can be worse than the default here.
  const canTune = subjects.whyNotHere === null;
  const chosen = new Map<string, TuningRecord>();
  for (const key of keys) {
    const own = records.filter(({ workload }) => workload === key);
    const record = chooseRecord(own, subjects.deviceKey, canTune);
    if (record !== null) chosen.set(key, record);
  }
  const missing = new Set(keys.filter((key) => !chosen.has(key)));
  return {
    misses: wanted.filter(({ key }) => missing.delete(key)),
    decide(results, whyNot) {
      return subjects.operations.map((operation) => {
        if (isDecision(operation)) return operation;
        const record = chosen.get(operation.key);
        if (record !== undefined) return decided(operation, record, 'hit', subjects.deviceKey);
        const known = results.get(operation.key);
        if (known !== undefined)
          return decided(
            operation,
            { ...known, device: subjects.deviceKey },
            known.outcome,
            subjects.deviceKey,
          );
        return passedOver(operation.site, operation, 'default', whyNot);
      });
    },
  };
}

/** What decides about the route, as far as the command does. */
export const injectionOptions = (
  { description, reading }: Pick<Subjects, 'description' | 'reading'>,
  wanted: InjectionOptions['wanted'],
): InjectionOptions => ({
  wanted,
  release: description.release,
  dataTiling: reading.dataTiling,
  ownPreprocessing: reading.ownPreprocessing,
  ownPipeline: reading.ownPipeline,
});

/** What a record or a miss of this operation is about, in full. */
export function subjectOf(tunable: TunableOperation, subjects: Subjects): Subject {
  return {
    workload: tunable.key,
    target: subjects.target.key,
    device: subjects.deviceKey,
    compiler: subjects.description.key,
    workloadForm: tunable.workload,
    targetForm: subjects.target.target,
    deviceForm: subjects.device,
    compilerForm: subjects.description,
  };
}
