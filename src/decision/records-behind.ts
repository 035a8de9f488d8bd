// The records behind decisions, for the report of a build. No hit asks for them.
import { configurationText } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { RecordKey, Store, TuningRecord } from '../store/store.ts';
import { keysOf } from '../store/subject.ts';
import type { Decision } from './decision.ts';

/**
 * The record of each decision's configuration, as the database has it now: the run of a program may have replaced its evidence since the
 * decision. Null for a decision by a lock file, and for a configuration that only a whole program has proven.
 * @param place of the build, for decisions that name no record
 */
export function recordsBehind(
  decisions: readonly Decision[],
  store: Pick<Store, 'findRecords'>,
  place: Omit<RecordKey, 'workload'>,
): (TuningRecord | null)[] {
  const keys = decisions.map((decision) => keyOf(decision, place));
  const places = Map.groupBy(
    keys.filter((key) => key !== null),
    ({ target, compiler }) => JSON.stringify([target, compiler]),
  );
  const found = [...places.values()].flatMap((own) => {
    const { target, compiler } = own[0]!;
    return store.findRecords([...new Set(own.map(({ workload }) => workload))], target, compiler);
  });
  const records = new Map(
    found
      .flatMap((record) => [record, record.alternative])
      .filter((record) => record !== undefined)
      .map((record) => [nameOf(record, record.configuration), record]),
  );
  return decisions.map(({ configuration }, i) => {
    const key = keys[i] ?? null;
    return (key && configuration && records.get(nameOf(key, configuration))) ?? null;
  });
}

function keyOf({ record, tunable, code }: Decision, place: Omit<RecordKey, 'workload'>): RecordKey | null {
  if (record !== null) return record;
  return tunable === null || code === 'locked' ? null : { workload: tunable.key, ...place };
}

const nameOf = (key: RecordKey, configuration: Configuration): string =>
  JSON.stringify([keysOf(key), configurationText(configuration)]);
