// The records behind a delivered module. Loaded by builds that explain themselves, or that deliver new bytes.
import { existsSync, statSync } from 'node:fs';
import type { Configuration } from '../backend/configuration.ts';
import { configurationText } from '../backend/index.ts';
import { withInstalled } from '../base/open.ts';
import { inputName } from '../compiler/command.ts';
import type { SiteKeys } from '../compiler/command-identity.ts';
import type { Decision } from '../decision/decision.ts';
import { sumOf } from '../measure/statistics.ts';
import type { Landed } from '../plan/ledger.ts';
import { explainOperations } from '../report/explain.ts';
import { keepModuleNote, notedOperations } from '../report/module-note.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { openStore } from '../store/open.ts';
import type { RecordKey, Store, TuningRecord } from '../store/store.ts';
import { keysOf, placeOf } from '../store/subject.ts';
import { fileSha256 } from '../system/hash.ts';
import type { Decided } from './decide.ts';

/**
 * The records of decisions in the database and the installed bases; all null if these cannot be read. It opens them again: a build for several
 * targets has closed its databases.
 */
export async function recordsNow(
  { decisions, inspected: { site } }: Pick<Decided, 'decisions' | 'inspected'>,
  surroundings: Surroundings,
): Promise<readonly (TuningRecord | null)[]> {
  const { database, author } = surroundings.settings;
  const nothing = decisions.map(() => null);
  try {
    const own = existsSync(database) ? await openStore(database, { readonly: true, author }) : null;
    using store = await withInstalled(own, surroundings);
    return store === null ? nothing : recordsBehind(decisions, store, placeOf(site));
  } catch {
    return nothing;
  }
}

/**
 * Notes the records in a module that this build has delivered, unless the output is no regular file. Never rejects.
 * @param path of the module
 */
export async function noteModule(
  decided: Decided,
  path: string,
  landed: Landed | null,
  surroundings: Surroundings,
): Promise<void> {
  const { command, decisions, forms, inspected } = decided;
  const input = inputName(command);
  try {
    if (!statSync(path).isFile()) return;
    const records = await recordsNow(decided, surroundings);
    const explained = explainOperations(inspected.input, input, decisions, landed, records);
    const operations = notedOperations(explained);
    const tuned = sumOf(operations.map(({ count }) => count));
    const used = Map.groupBy(forms?.used === true ? forms.operations : [], ({ form }) => form);
    keepModuleNote(surroundings.cacheDirectory, {
      ...{ identity: fileSha256(path), builtAt: new Date().toISOString(), input, folder: process.cwd() },
      ...{ ...placeOf(inspected.site), operations, untuned: explained.length - tuned },
      forms: Object.fromEntries([...used].map(([form, own]) => [form, own.length])),
    });
  } catch {
    // For example, the working directory is gone. `iree-tuned which` does not know the module then.
  }
}

/**
 * The record of each decision's configuration, as the database has it now: the run of a program may have replaced its evidence since the
 * decision. Null for a decision by a lock file, and for a configuration that only a whole program has proven.
 * @param place of the build, for decisions that name no record
 */
export function recordsBehind(
  decisions: readonly Decision[],
  store: Pick<Store, 'findRecords'>,
  place: SiteKeys,
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

function keyOf({ record, tunable, code }: Decision, place: SiteKeys): RecordKey | null {
  if (record !== null) return record;
  return tunable === null || code === 'locked' ? null : { workload: tunable.key, ...place };
}

const nameOf = (key: RecordKey, configuration: Configuration): string =>
  JSON.stringify([keysOf(key), configurationText(configuration)]);
