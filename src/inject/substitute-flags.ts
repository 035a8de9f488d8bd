// What a compile with substitutes is told, and what it says about them.

/** The flag that substitutes one executable by the file with its edited source. */
export const substituteFlag = (name: string, path: string): string =>
  `--iree-hal-substitute-executable-source=${name}=${path}`;

/** What the compiler says on stderr, without its notes about substitutes of ours. */
export const withoutNotes = (messages: string, paths: readonly string[]): string =>
  messages.replace(
    // The message before may end its colour where the note begins.
    // eslint-disable-next-line no-control-regex -- colours are made of them
    /^((?:\u001b\[[\d;]*m)*)NOTE: hal\.executable `[^`\n]*` substituted with [^`\n]*`([^`\n]*)`\n/gm,
    (note, colour: string, path: string) => (paths.includes(path) ? colour : note),
  );
