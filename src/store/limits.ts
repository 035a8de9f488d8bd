// How long what is kept and exchanged may be: nobody who sends something can fill a disk or a terminal with it.

/** Bytes of a configuration as JSON. */
export const LONGEST_CONFIGURATION = 4096;

/** Characters of a key, of a form as JSON, of a reason or message, and of a name. */
export const LONGEST_KEY = 2 ** 14;
export const LONGEST_FORM = 2 ** 16;
export const LONGEST_REASON = 2 ** 12;
export const LONGEST_NAME = 2 ** 8;

/** Characters of what is revoked: a user and a machine at most. */
export const LONGEST_REVOKED = 2 * LONGEST_NAME + 1;

/** Of marks: nobody lifts as often. */
export const HIGHEST_GENERATION = 1_000_000;

// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/** Whether terminals and databases take a text as it is: no control characters but tabs and line feeds, no half characters. */
export const isPlain = (text: string): boolean => text.isWellFormed() && !CONTROL.test(text);

/** What a compiler or a system has said, as it is kept. */
export const plainText = (text: string, longest: number): string =>
  text.slice(0, longest).toWellFormed().replaceAll(new RegExp(CONTROL, 'g'), ' ');
