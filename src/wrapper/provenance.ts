// The records behind a delivered module. Loaded by builds that explain themselves, or that deliver new bytes.
import { existsSync, statSync } from 'node:fs';
import { withInstalled } from '../base/open.ts';
import { inputName } from '../compiler/command.ts';
import { recordsBehind } from '../decision/records-behind.ts';
import type { Landed } from '../plan/ledger.ts';
import { explainOperations } from '../report/explain.ts';
import { keepModuleNote, notedOperations, type ModuleNote } from '../report/module-note.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { openStore } from '../store/open.ts';
import type { TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
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
  try {
    if (statSync(path).isFile())
      keepModuleNote(surroundings.cacheDirectory, await noteOf(decided, path, landed, surroundings));
  } catch {
    // For example, the working directory is gone. `iree-tuned which` does not know the module then.
  }
}

async function noteOf(
  decided: Decided,
  path: string,
  landed: Landed | null,
  surroundings: Surroundings,
): Promise<ModuleNote> {
  const { command, decisions, forms, inspected } = decided;
  const { target, device, compiler } = placeOf(inspected.site);
  const input = inputName(command);
  const records = await recordsNow(decided, surroundings);
  const explained = explainOperations(inspected.input, input, decisions, landed, records);
  const operations = notedOperations(explained);
  const tuned = operations.reduce((sum, { count }) => sum + count, 0);
  const used = Map.groupBy(forms?.used === true ? forms.operations : [], ({ form }) => form);
  return {
    ...{ identity: fileSha256(path), builtAt: new Date().toISOString(), input, folder: process.cwd() },
    ...{ target, device, compiler, operations, untuned: explained.length - tuned },
    forms: Object.fromEntries([...used].map(([form, own]) => [form, own.length])),
  };
}
