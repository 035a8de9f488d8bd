// Text as a terminal shows it: what is never to reach one, how many columns the rest takes, and how it is made to fit. Pure.
import stringWidth from 'string-width';

/** What a terminal would obey, or what is there without being seen: control and format characters, strange line ends. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const named = (character: string): string =>
  `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`;

/** The same text with every such character by its name: `<U+001B>`. Line ends and tabs are among them. */
export const printable = (text: string): string => text.replace(UNSEEN, named);

/** The same for text of several lines, whose ends stay. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** What is seen as one character: marks that are combined with it belong to it. */
export interface Cell {
  readonly text: string;
  /** Columns that it takes: none, one or two. */
  readonly columns: number;
}

const segmenter = new Intl.Segmenter('en');

/** Printable text, character by character. */
export const cellsOf = (text: string): Cell[] =>
  Array.from(segmenter.segment(text), ({ segment }) => ({ text: segment, columns: stringWidth(segment) }));

/** Columns that printable text takes on a terminal. Colours take none. */
export const columnsOf = (text: string): number => stringWidth(text);

export const ELLIPSIS = '…';

/** Printable text in so many columns: where it takes more, its middle is left out. */
export function shortened(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const room = Math.max(0, columns - columnsOf(ELLIPSIS));
  const cells = cellsOf(text);
  return firstOf(cells, Math.ceil(room / 2)) + ELLIPSIS + lastOf(cells, Math.floor(room / 2));
}

/** The first characters, as far as they fit. */
export function firstOf(cells: readonly Cell[], columns: number): string {
  let left = columns;
  const after = cells.findIndex((cell) => (left -= cell.columns) < 0);
  return textOf(after < 0 ? cells : cells.slice(0, after));
}

/** The last ones. */
export function lastOf(cells: readonly Cell[], columns: number): string {
  let left = columns;
  const before = cells.findLastIndex((cell) => (left -= cell.columns) < 0);
  return textOf(cells.slice(before + 1));
}

export const textOf = (cells: readonly Cell[]): string => cells.map(({ text }) => text).join('');

/**
 * Text with lines of so many columns, broken between words; what a line goes on with is indented. A word that is longer stays
 * whole, to be copied.
 */
export const wrapped = (text: string, columns: number, indent = ''): string =>
  text
    .split('\n')
    .flatMap((line) => brokenLine(line, columns, indent))
    .join('\n');

function brokenLine(line: string, columns: number, indent: string): string[] {
  if (columnsOf(line) <= columns) return [line];
  const lines: string[] = [];
  let current = '';
  // The spaces before a word belong to it: they may align it with others.
  for (const [word] of line.matchAll(/\s*\S+/g)) {
    if (current === '' || columnsOf(current + word) <= columns) current += word;
    else {
      lines.push(current);
      current = indent + word.trimStart();
    }
  }
  return [...lines, current];
}
