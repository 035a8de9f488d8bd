// What a compile with substitutes is told, and what it says about them.

/** What of an executable is edited: its source, or that after the compiler has configured all of its operations. */
export type SubstitutePhase = 'source' | 'configuration';

/** The flag that substitutes one executable by the file with what was edited of it. */
export const substituteFlag = ({ name, path, phase }: SubstituteFile): string =>
  `--iree-hal-substitute-executable-${phase}=${name}=${path}`;

/** A file of ours that an executable is substituted by. */
export interface SubstituteFile {
  /** Of the executable. */
  readonly name: string;
  readonly path: string;
  readonly phase: SubstitutePhase;
}

/**
 * What the compiler says on stderr, without its notes about substitutes of ours. What it compiles on the way to evaluate
 * constants has none of these executables, of which it warns, too.
 */
export const withoutNotes = (messages: string, ours: readonly SubstituteFile[]): string =>
  messages.replace(
    // The message before may end its colour where the note begins.
    // eslint-disable-next-line no-control-regex -- colours are made of them
    /^((?:\u001b\[[\d;]*m)*)(?:NOTE: hal\.executable `[^`\n]*` substituted with [^`\n]*`([^`\n]*)`|WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable `([^`\n]*)` was not found in the module)\n/gm,
    (note, colour: string, path?: string, missing?: string) =>
      ours.some((one) => one.path === path || one.name === missing) ? colour : note,
  );
