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

/** One visible character with its combining marks. */
export interface Cell {
  readonly text: string;
  /** Its width: none, one or two columns. */
  readonly columns: number;
}

const segmenter = new Intl.Segmenter('en');

/** Printable text, character by character. */
export const cellsOf = (text: string): Cell[] =>
  Array.from(segmenter.segment(text), ({ segment }) => ({ text: segment, columns: stringWidth(segment) }));

/** Width of printable text in columns. Colours take none. */
export const columnsOf = (text: string): number => stringWidth(text);

export const ELLIPSIS = '…';

/** The first characters that fit. */
export function firstOf(cells: readonly Cell[], columns: number): string {
  let left = columns;
  const after = cells.findIndex((cell) => (left -= cell.columns) < 0);
  return textOf(after < 0 ? cells : cells.slice(0, after));
}

/** The last characters that fit. */
export function lastOf(cells: readonly Cell[], columns: number): string {
  let left = columns;
  const before = cells.findLastIndex((cell) => (left -= cell.columns) < 0);
  return textOf(cells.slice(before + 1));
}

export const textOf = (cells: readonly Cell[]): string => cells.map(({ text }) => text).join('');
