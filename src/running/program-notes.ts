// Notes about whole programs in the database.
import type { Command } from '../compiler/command.ts';
import { programIdentity } from '../compiler/command-identity.ts';
import type { ProgramNoteKind, Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { whyNotRun } from './limits.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/**
 * Key of a program's notes. Programs that differ only in names, order of functions or dead code have the same key. For this digest the
 * compiler runs once more, so a build that can neither read nor write a note takes the digest of the text.
 */
export async function programOf(
  command: Command,
  { input, site }: Inspected,
  store: Store | null,
  surroundings: Surroundings,
): Promise<string> {
  const mayWrite = whyNotRun(input, surroundings.settings.budgetSeconds) === null;
  const hasNotes = store !== null && (mayWrite || store.hasProgramNotes(['program', 'forms']));
  if (!hasNotes) return programIdentity(command, input.digest, placeOf(site));
  // Not loaded for a program without decisions.
  const { programDigest } = await import('../input/program-digest.ts');
  return programIdentity(command, await programDigest(input, command, surroundings), placeOf(site));
}

/**
 * Notes of one kind.
 * @param isValid checks a note on read, because other programs may write to the database
 */
export const programNotes = <T>(kind: ProgramNoteKind, isValid: (value: unknown) => value is T) => ({
  /** The note on a program; null if there is none, or no database. */
  recall(store: Store | null, program: string): T | null {
    const note = store?.programNote(kind, program) ?? null;
    return isValid(note) ? note : null;
  },
  /** All valid notes, by program. */
  all: (store: Store): (readonly [program: string, note: T])[] =>
    store
      .programNotes(kind)
      .flatMap(({ program, note }) => (isValid(note) ? [[program, note] as const] : [])),
  remember(store: Store, program: string, note: T): void {
    store.noteProgram(kind, program, note);
  },
});
