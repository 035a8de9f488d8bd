// Maps the compiler's messages about an edited copy of the input to the input itself.
import {
  applyInsertions,
  lineIndex,
  originalPositions,
  type Insertion,
  type LineIndex,
} from 'mlir-parser-ts';
import { resultOr } from '../system/result-or.ts';

/** A message that is followed by its line of source and a caret. */
interface Message {
  /** The line in the edited copy, and the same line in the user's input. */
  readonly edited: string;
  readonly written: string;
  /** Column of the caret in the written line. */
  readonly column: number;
  readonly expected: 'source' | 'caret';
}

/** Colour codes at the start of a line. */
const COLOUR = String.raw`(?:\u001b\[[\d;]*m)*`;

const COLOURED = new RegExp(`^(${COLOUR})(.*)$`, 's');

/** The compiler's name for text from stdin. */
const STDIN = '<stdin>';

/**
 * The compiler's messages with the user's file, lines and columns. The source lines are the user's, with the carets below the same places.
 * @param name the user's name of the input
 */
export function mapDiagnostics(
  messages: string,
  input: Uint8Array,
  insertions: readonly Insertion[],
  name: string,
): string {
  if (!messages.includes(STDIN)) return messages;
  const index = lineIndex(input);
  const translate = originalPositions(index, insertions);
  const mapped: string[] = [];
  let message: Message | null = null;
  for (const text of messages.split('\n')) {
    const found = /^(.*?)<stdin>:(\d+):(\d+):/.exec(text);
    if (found !== null) {
      const [line, column] = [Number(found[2]), Number(found[3])];
      // A place that is not in the text: edits add no lines, so the line is right.
      const position = resultOr(() => translate(line, column), { line, column });
      mapped.push(text.replace(found[0], `${found[1]!}${name}:${position.line}:${position.column}:`));
      const lines = linesAt(input, index, insertions, position.line);
      message = lines && { ...lines, column: position.column, expected: 'source' };
      continue;
    }
    const [, colour, rest] = COLOURED.exec(text) as unknown as [string, string, string];
    // A message may have several lines before its line of source.
    if (message?.expected === 'source' && rest === withoutTabs(message.edited)) {
      mapped.push(colour + withoutTabs(message.written));
      message = { ...message, expected: 'caret' };
    } else if (message?.expected === 'caret') {
      const before = withoutTabs(message.written.slice(0, message.column - 1));
      mapped.push(/^ *\^/.test(rest) ? rest.replace(/^ */, colour + ' '.repeat(before.length)) : text);
      message = null;
    } else {
      mapped.push(text.replaceAll(STDIN, name));
    }
  }
  return mapped.join('\n');
}

/** A line as the compiler shows it: tabs extend to the next multiple of eight columns. */
function withoutTabs(line: string): string {
  let shown = '';
  for (const [i, part] of line.split('\t').entries()) {
    if (i > 0) shown += ' '.repeat(8 - (shown.length % 8));
    shown += part;
  }
  return shown;
}

/** A line as written, and with its insertions; null if the input has no such line. */
function linesAt(
  input: Uint8Array,
  index: LineIndex,
  insertions: readonly Insertion[],
  line: number,
): Pick<Message, 'edited' | 'written'> | null {
  const start = index.offsetOf(line, 1);
  if (start < 0) return null;
  const next = input.indexOf(0x0a, start);
  const end = next < 0 ? input.length : next;
  const text = input.subarray(start, end);
  const inside = insertions
    .filter(({ offset }) => offset >= start && offset <= end)
    .map((insertion) => ({ ...insertion, offset: insertion.offset - start }));
  return { written: decode(text), edited: decode(applyInsertions(text, inside)) };
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
