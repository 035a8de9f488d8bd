// Flags that substitute executables, and the compiler's messages about them.

/** The edited text: the source of an executable, or the executable after the compiler has configured it. */
export type SubstitutePhase = 'source' | 'configuration';

/** The flag that substitutes an executable. */
export const substituteFlag = ({ name, path, phase }: SubstituteFile): string =>
  `--iree-hal-substitute-executable-${phase}=${name}=${path}`;

/** Our file that replaces an executable. */
export interface SubstituteFile {
  /** Name of the executable. */
  readonly name: string;
  readonly path: string;
  readonly phase: SubstitutePhase;
}

/**
 * The compiler's messages without the notes about our substitutes. The programs that the compiler compiles to evaluate constants lack these
 * executables, and give warnings.
 */
export const withoutNotes = (messages: string, ours: readonly SubstituteFile[]): string =>
  messages.replace(
    // The note may begin with the end of the previous message's colour.
    // eslint-disable-next-line no-control-regex -- colours are made of them
    /^((?:\u001b\[[\d;]*m)*)(?:NOTE: hal\.executable `[^`\n]*` substituted with [^`\n]*`([^`\n]*)`|WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable `([^`\n]*)` was not found in the module)\n/gm,
    (note, colour: string, path?: string, missing?: string) =>
      ours.some((one) => one.path === path || one.name === missing) ? colour : note,
  );
