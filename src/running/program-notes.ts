// Notes about whole programs in the database.
import type { Command } from '../compiler/command.ts';
import { identityOn, identityWithoutData, programIdentity } from '../compiler/command-identity.ts';
import type { ProgramNoteKind, Store } from '../store/store.ts';
import { siblingsOf } from '../store/like.ts';
import { placeOf } from '../store/subject.ts';
import { whyNotRun } from './limits.ts';
import type { Inspected } from '../plan/inspected.ts';
import { dataIdentity } from '../program/own-data.ts';
import type { Settings } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';

/**
 * Key of a program's notes. Programs that differ only in names, order of functions or dead code have the same key. For this digest the
 * compiler runs once more, so a build that can neither read nor write a note takes the digest of the text. A verdict on the user's data has
 * a key of its own.
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
  const digest = await programDigest(input, command, surroundings);
  return programIdentity(command, digest, placeOf(site), await dataIdentity(surroundings.settings.data));
}

/**
 * Keys of a program's notes on other devices, where the records of these devices are used unmeasured: see `lookUp`. If nothing can be
 * measured, verdicts on generated inputs count for the user's data, too.
 * @param program key of its notes on this device
 * @param mayMeasure whether anything may be measured: a build that can run the program does so
 */
export function keysElsewhere(
  program: string,
  { input, site }: Inspected,
  store: Store | null,
  { budgetSeconds, trust }: Pick<Settings, 'budgetSeconds' | 'trust'>,
  mayMeasure: boolean,
): string[] {
  if (store === null || (mayMeasure && whyNotRun(input, budgetSeconds) === null)) return [];
  const { device, deviceKey, forDevice, whyNotHere } = site;
  const isAnyDevice = whyNotHere !== null && forDevice === null;
  const isTrusted = forDevice !== null || trust === 'class';
  const found = isAnyDevice
    ? store.devices().map(({ key }) => key)
    : isTrusted
      ? siblingsOf(deviceKey, device, store)
      : [];
  const own = [program, ...found.filter((key) => key !== deviceKey).map((key) => identityOn(program, key))];
  return [...new Set([...own, ...own.map(identityWithoutData)])].slice(1);
}

/** Several notes about one program, at least one: this origin's first, then the latest. */
type Notes<T> = readonly [T, ...T[]];

/**
 * Notes of one kind.
 * @param isValid checks a note on read, because other programs and other machines may write to the database
 * @param joined one note from the notes of several machines; the first by default
 */
export const programNotes = <T>(
  kind: ProgramNoteKind,
  isValid: (value: unknown) => value is T,
  joined: (notes: Notes<T>) => T = ([first]) => first,
) => ({
  /**
   * The note on a program; null if there is none, or no database.
   * @param elsewhere more keys, see `keysElsewhere`
   */
  recall(store: Store | null, program: string, elsewhere: readonly string[] = []): T | null {
    if (store === null) return null;
    const [first, ...rest] = [program, ...elsewhere]
      .flatMap((key) => store.programNotes(kind, key))
      .filter(isValid);
    return first === undefined ? null : joined([first, ...rest]);
  },
  /** A valid note of each program, by program. */
  all(store: Store): (readonly [program: string, note: T])[] {
    const valid = store.allProgramNotes(kind).filter(({ note }) => isValid(note));
    return [...Map.groupBy(valid, ({ program }) => program)].map(([program, own]) => {
      const [first, ...rest] = own.map(({ note }) => note as T);
      return [program, joined([first!, ...rest])];
    });
  },
  remember(store: Store, program: string, note: T): void {
    store.noteProgram(kind, program, note);
  },
});
