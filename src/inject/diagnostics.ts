// What the compiler says about an edited copy of the input, said about the input itself.
import { originalPosition, type Insertion } from 'mlir-parser-ts';

/** Where a message points, and what of it is still to come. */
interface Place {
  readonly line: number;
  readonly column: number;
  readonly expected: 'source' | 'caret';
}

/** The name that the compiler gives to text from stdin. */
const STDIN = '<stdin>';

/**
 * The compiler's messages with the user's file, line and column. The line of source that follows a message is the
 * user's too, with the caret below the same place.
 * @param name what the user calls the input
 */
export function mapDiagnostics(
  messages: string,
  input: Uint8Array,
  insertions: readonly Insertion[],
  name: string,
): string {
  if (!messages.includes(STDIN)) return messages;
  const mapped: string[] = [];
  // The place of the message before, while its line of source and its caret are to come.
  let place: Place | null = null;
  for (const text of messages.split('\n')) {
    const found = /^(.*?)<stdin>:(\d+):(\d+):/.exec(text);
    if (found !== null) {
      const position = positionOf(input, insertions, Number(found[2]), Number(found[3]));
      mapped.push(text.replace(found[0], `${found[1]!}${name}:${position.line}:${position.column}:`));
      place = { ...position, expected: 'source' };
    } else if (place?.expected === 'source' && text !== '') {
      mapped.push(lineOf(input, place.line) ?? text);
      place = { line: place.line, column: place.column, expected: 'caret' };
    } else if (place?.expected === 'caret' && /^\s*\^/.test(text)) {
      mapped.push(`${' '.repeat(place.column - 1)}${text.trimStart()}`);
      place = null;
    } else {
      mapped.push(text.replaceAll(STDIN, name));
      place = null;
    }
  }
  return mapped.join('\n');
}

function positionOf(input: Uint8Array, insertions: readonly Insertion[], line: number, column: number) {
  try {
    return originalPosition(input, insertions, line, column);
  } catch {
    // A place that is not in the text; edits never add lines.
    return { line, column };
  }
}

function lineOf(input: Uint8Array, line: number): string | null {
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    start = input.indexOf(0x0a, start) + 1;
    if (start === 0) return null;
  }
  const end = input.indexOf(0x0a, start);
  return new TextDecoder().decode(input.subarray(start, end < 0 ? input.length : end));
}
