// What a compile with substitutes is told, and what it says about them.

/** The flag that substitutes one executable by the file with its edited source. */
export const substituteFlag = (name: string, path: string): string =>
  `--iree-hal-substitute-executable-source=${name}=${path}`;

/** An executable that is substituted by a file of ours. */
export interface Substitute {
  readonly name: string;
  readonly path: string;
}

/**
 * What the compiler says on stderr, without its notes about substitutes of ours. What it compiles on the way to evaluate
 * constants has none of these executables, of which it warns, too.
 */
export const withoutNotes = (messages: string, ours: readonly Substitute[]): string =>
  messages
    .replace(
      // The message before may end its colour where the note begins.
      // eslint-disable-next-line no-control-regex -- colours are made of them
      /^((?:\u001b\[[\d;]*m)*)NOTE: hal\.executable `[^`\n]*` substituted with [^`\n]*`([^`\n]*)`\n/gm,
      (note, colour: string, path: string) => (ours.some((one) => one.path === path) ? colour : note),
    )
    .replace(
      // eslint-disable-next-line no-control-regex -- as above
      /^((?:\u001b\[[\d;]*m)*)WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable `([^`\n]*)` was not found in the module\n/gm,
      (warning, colour: string, name: string) => (ours.some((one) => one.name === name) ? colour : warning),
    );
