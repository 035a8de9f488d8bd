// Limits of stored and exchanged texts, so that no sender can flood a disk or a terminal.

/** Bytes of a configuration as JSON. */
export const LONGEST_CONFIGURATION = 4096;

/** Characters of a key, of a form as JSON, of a reason or message, and of a name. */
export const LONGEST_KEY = 2 ** 14;
export const LONGEST_FORM = 2 ** 16;
export const LONGEST_REASON = 2 ** 12;
export const LONGEST_NAME = 2 ** 8;

/** Characters of a revocation's value: at most a user and a machine. */
export const LONGEST_REVOKED = 2 * LONGEST_NAME + 1;

/** Bytes of a note about a program as JSON: a line of it is shorter than `LONGEST_LINE`. */
export const LONGEST_NOTE = 2 ** 19;

export const HIGHEST_GENERATION = 1_000_000;

// eslint-disable-next-line no-control-regex -- the pattern finds control characters
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/** Whether a text is safe for terminals and databases: well-formed, no control characters except tab and line feed. */
export const isPlain = (text: string): boolean => text.isWellFormed() && !CONTROL.test(text);

/** A message of a compiler or system, in a form that can be stored. */
export const plainText = (text: string, longest: number): string =>
  text.slice(0, longest).toWellFormed().replaceAll(new RegExp(CONTROL, 'g'), ' ');
