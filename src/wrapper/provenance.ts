// The records behind a delivered module. Loaded by builds that explain themselves, or that deliver new bytes.
import { statSync } from 'node:fs';
import { inputName } from '../compiler/command.ts';
import { recordsBehind } from '../decision/records-behind.ts';
import type { Landed } from '../plan/ledger.ts';
import { explainOperations } from '../report/explain.ts';
import { keepModuleNote, notedOperations, type ModuleNote } from '../report/module-note.ts';
import type { TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { fileSha256 } from '../system/hash.ts';
import { resultOr } from '../system/result-or.ts';
import type { Decided } from './decide.ts';

/** The records of a build's decisions; all null without a database, or if the database cannot be read. */
export function recordsNow({
  decisions,
  inspected: { site },
  store,
}: Pick<Decided, 'decisions' | 'inspected' | 'store'>): readonly (TuningRecord | null)[] {
  const nothing = decisions.map(() => null);
  if (store === null) return nothing;
  return resultOr(() => recordsBehind(decisions, store, placeOf(site)), nothing);
}

/**
 * Notes the records in a module that this build has delivered, unless the output is no regular file. Never throws.
 * @param path of the module
 */
export function noteModule(decided: Decided, path: string, landed: Landed | null): void {
  try {
    if (!statSync(path).isFile()) return;
    keepModuleNote(decided.surroundings.cacheDirectory, noteOf(decided, path, landed));
  } catch {
    // For example, the working directory is gone. `iree-tuned which` does not know the module then.
  }
}

function noteOf(decided: Decided, path: string, landed: Landed | null): ModuleNote {
  const { command, decisions, forms, inspected } = decided;
  const { target, device, compiler } = placeOf(inspected.site);
  const input = inputName(command);
  const explained = explainOperations(inspected.input, input, decisions, landed, recordsNow(decided));
  const operations = notedOperations(explained);
  const tuned = operations.reduce((sum, { count }) => sum + count, 0);
  const used = Map.groupBy(forms?.used === true ? forms.operations : [], ({ form }) => form);
  return {
    ...{ identity: fileSha256(path), builtAt: new Date().toISOString(), input, folder: process.cwd() },
    ...{ target, device, compiler, operations, untuned: explained.length - tuned },
    forms: Object.fromEntries([...used].map(([form, own]) => [form, own.length])),
  };
}
