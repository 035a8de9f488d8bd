// What a database knows of whole programs.
import type { Command } from '../compiler/command.ts';
import { programIdentity } from '../compiler/command-identity.ts';
import type { ProgramNoteKind, Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import type { Inspected } from '../plan/inspected.ts';

/** What a program is noted by. */
export const programOf = (command: Command, { input, site }: Inspected): string =>
  programIdentity(command, input.digest, placeOf(site));

/** Notes of one kind. */
export interface ProgramNotes<T> {
  /** What is known of a program; null when nothing is, or there is no database. */
  recall(store: Store | null, program: string): T | null;
  remember(store: Store, program: string, note: T): void;
}

/** @param isValid databases hold what anybody may have written */
export const programNotes = <T>(
  kind: ProgramNoteKind,
  isValid: (value: unknown) => value is T,
): ProgramNotes<T> => ({
  recall(store, program) {
    const note = store?.programNote(kind, program) ?? null;
    return isValid(note) ? note : null;
  },
  remember(store, program, note) {
    store.noteProgram(kind, program, note);
  },
});
