// Untrusted text of databases for a page: it can neither be markup nor reorder the text around it.

// Control characters, marks that turn the direction of text around, and characters without any width.
const UNSEEN = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** A text of at most `longest` characters, with invisible characters made visible. */
export function plain(text: string, longest = 2000): string {
  const shown = text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
  return shown.toWellFormed().replaceAll(UNSEEN, '\ufffd');
}

/** A text as HTML, between tags and in attributes in quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

/** Any text as one word of a shell's command line. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
