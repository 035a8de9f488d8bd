// A line of an input with one word underlined, as compilers show it. Pure.
import { bufferOf } from '../system/bytes.ts';
import type { Page } from './page.ts';
import { columnsOf, printable } from './text.ts';

/** Lines of an input can have gigabytes. */
const MOST_COLUMNS = 160;

/** Most bytes of a character. */
const CHARACTER_BYTES = 4;

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
 * Two lines: a line of a text after its number, and the mark below the word. A line that is too long is cut by its characters, each counted
 * as one column.
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
  const reach = (room + 1) * CHARACTER_BYTES;
  const before = charactersOf(decode(text, Math.max(start, at - reach), at));
  const after = decode(text, at, Math.min(end, at + reach));
  const word = (/^"?[\w.$-]+"?|^./u.exec(after)?.[0] ?? '').slice(0, room - 2);
  const marked = charactersOf(word);
  const rest = charactersOf(after.slice(word.length));
  const columns = room - marked.length;
  // One side gets the columns that the other does not need.
  const left = Math.max(Math.floor(columns * CONTEXT_SHARE), columns - rest.length);
  const head = before.length <= left ? before : ['…', ...before.slice(before.length - left + 1)];
  const right = columns - head.length;
  const tail = rest.length <= right ? rest : [...rest.slice(0, right - 1), '…'];
  const source = [...head, ...marked, ...tail].join('');
  const widthOf = (characters: readonly string[]) => columnsOf(characters.join(''));
  const under = ' '.repeat(widthOf(head)) + '^'.padEnd(widthOf(marked), '~');
  return [
    `${margin} | ${source.trimEnd()}`,
    `${' '.repeat(margin.length)} | ${page.paint(['green', 'bold'], under)}`,
  ].join('\n');
}

/** The shown characters of a text: tabs as spaces, control characters by name. */
const charactersOf = (text: string): string[] => Array.from(printable(text.replaceAll('\t', '  ')));

/** Bytes as text, without the rest of a character that begins before `start`. */
function decode(text: Uint8Array, start: number, end: number): string {
  let from = start;
  while (from < end && (text[from]! & 0xc0) === 0x80) from++;
  return new TextDecoder().decode(text.subarray(from, end));
}
