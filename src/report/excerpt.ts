// A line of an input with one word underlined, as compilers show it. Pure.
import { bufferOf } from '../system/bytes.ts';
import type { Page } from './page.ts';
import { cellsOf, columnsOf, ELLIPSIS, firstOf, lastOf, printable, textOf, type Cell } from './text.ts';

/** Lines of an input can have gigabytes. */
const MOST_COLUMNS = 160;

const TAB = 8;

/** Most bytes that one column takes; combining marks may take more. */
const BYTES_PER_COLUMN = 8;

/** Share of the text before the underlined word in a line that is too long. */
const CONTEXT_SHARE = 1 / 3;

/** Byte ranges [start, end) of the lines of a text, by line number from 1; null beyond the last line. */
export function linesOf(text: Uint8Array): (line: number) => readonly [number, number] | null {
  const bytes = bufferOf(text);
  const starts = [0];
  return (line) => {
    while (starts.length <= line) {
      const next = bytes.indexOf(10, starts.at(-1));
      if (next < 0) break;
      starts.push(next + 1);
    }
    const start = starts[line - 1];
    if (start === undefined) return null;
    const after = starts[line];
    const end = after === undefined ? bytes.length : after - 1;
    return [start, bytes[end - 1] === 13 && end > start ? end - 1 : end];
  };
}

/**
 * Two lines: a line of a text after its number, and the mark below the word.
 * @param range byte range of the line
 * @param column of the word, in bytes from 1
 */
export function excerpt(
  text: Uint8Array,
  [start, end]: readonly [number, number],
  { line, column }: { readonly line: number; readonly column: number },
  page: Page,
): string {
  const margin = String(line).padStart(4);
  const room = Math.min(page.columns, MOST_COLUMNS) - margin.length - 3;
  const at = Math.min(end, start + column - 1);
  const reach = room * BYTES_PER_COLUMN;
  const before = decode(text, Math.max(start, at - reach), at);
  const after = decode(text, at, Math.min(end, at + reach));
  const word = (/^"?[\w.$-]+"?/.exec(after)?.[0] ?? /^./u.exec(after)?.[0] ?? '').slice(0, room - 2);
  // Tabs count from the first shown column.
  const left = shown(before, 0);
  const marked = shown(word, 0);
  const right = shown(after.slice(word.length), widthOf(left) + widthOf(marked));
  // One side gets the columns that the other does not need.
  const columns = Math.max(0, room - widthOf(marked));
  const isCutLeft = at - reach > start;
  const isCutRight = at + reach < end;
  const leftRoom = Math.max(
    Math.floor(columns * CONTEXT_SHARE),
    columns - widthOf(right) - Number(isCutRight),
  );
  const head = isCutLeft || widthOf(left) > leftRoom ? ELLIPSIS + lastOf(left, leftRoom - 1) : textOf(left);
  const rightRoom = columns - columnsOf(head);
  const tail =
    isCutRight || widthOf(right) > rightRoom ? firstOf(right, rightRoom - 1) + ELLIPSIS : textOf(right);
  const source = head + textOf(marked) + tail;
  const under = ' '.repeat(columnsOf(head)) + `^${'~'.repeat(Math.max(0, widthOf(marked) - 1))}`;
  return [
    `${margin} | ${source.trimEnd()}`,
    `${' '.repeat(margin.length)} | ${page.paint(['green', 'bold'], under)}`,
  ].join('\n');
}

const widthOf = (cells: readonly Cell[]): number => cells.reduce((sum, { columns }) => sum + columns, 0);

/** Text from a column on: tabs as spaces, control characters by name. */
function shown(text: string, from: number): Cell[] {
  const cells: Cell[] = [];
  let column = from;
  for (const [i, part] of text.split('\t').entries()) {
    if (i > 0) {
      const spaces = TAB - (column % TAB);
      for (let n = 0; n < spaces; n++) cells.push({ text: ' ', columns: 1 });
      column += spaces;
    }
    for (const cell of cellsOf(printable(part))) {
      cells.push(cell);
      column += cell.columns;
    }
  }
  return cells;
}

/** Bytes as text, without the rest of a character that begins before `start`. */
function decode(text: Uint8Array, start: number, end: number): string {
  let from = start;
  while (from < end && (text[from]! & 0xc0) === 0x80) from++;
  return new TextDecoder().decode(text.subarray(from, end));
}
