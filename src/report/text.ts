// Text for a terminal: without control characters, with its width in columns. Pure.
import stringWidth from 'string-width';

/** Characters that control a terminal or are invisible: control and format characters, unusual line ends. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const named = (character: string): string =>
  `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`;

/** The text with each such character by name: `<U+001B>`. Line ends and tabs are among them. */
export const printable = (text: string): string => text.replace(UNSEEN, named);

/** `printable` for text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** Width of printable text in columns. Colours take none. */
export const columnsOf = (text: string): number => stringWidth(text);
