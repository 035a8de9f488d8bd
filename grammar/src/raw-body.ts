import {
  CLOSE_ANGLE,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  CLOSERS,
  MINUS,
  OPEN_ANGLE,
  QUOTE,
} from './characters.ts';
import { type Scanner, STRING } from './scanner.ts';

/** Whether a `<` is right behind the current token, which is the name of an attribute or a type. */
export const hasRawBody = ({ bytes, pos, end }: Scanner): boolean => bytes[pos] === OPEN_ANGLE && pos < end;

/**
 * The offset after the `<...>` right behind the current token, which is the name of a dialect's attribute or type. The
 * compiler treats this body as text of the dialect: only brackets, strings and `->` count, and `//` starts no comment.
 * -1 without a body, or for an unterminated body, which the compiler rejects.
 */
// ebnf: raw-body
export function endOfRawBody(scanner: Scanner): number {
  const { start, kind, pos: from } = scanner;
  if (!hasRawBody(scanner) || scanner.rawBudget < 0) return -1;
  const to = endOfBody(scanner);
  // Bounds the time for unterminated bodies, which would each take the rest of the text.
  if (to < 0) scanner.rawBudget -= scanner.pos - from;
  scanner.pos = from;
  scanner.start = start;
  scanner.kind = kind;
  return to;
}

/** Steps over the body; the name stays the current token. False, without a step, for no body or an unterminated one. */
export function skipRawBody(scanner: Scanner): boolean {
  const end = endOfRawBody(scanner);
  if (end >= 0) scanner.pos = end;
  return end >= 0;
}

/** The offset after the body that starts at `scanner.pos`. On -1, the scanner stays at the malformed text. */
function endOfBody(scanner: Scanner): number {
  const { bytes, end } = scanner;
  const open: number[] = [];
  let { pos } = scanner;
  do {
    const byte = pos < end ? bytes[pos]! : 0;
    const closer = CLOSERS[byte]!;
    scanner.pos = pos++;
    if (byte === 0) return -1;
    if (closer !== 0) open.push(closer);
    else if (byte === QUOTE) {
      if (scanner.next() !== STRING) return -1;
      pos = scanner.pos;
    } else if (byte === MINUS && bytes[pos] === CLOSE_ANGLE) pos++;
    else if (isCloser(byte) && open.pop() !== byte) return -1;
  } while (open.length > 0);
  return pos;
}

function isCloser(byte: number): boolean {
  return byte === CLOSE_ANGLE || byte === CLOSE_PAREN || byte === CLOSE_BRACKET || byte === CLOSE_BRACE;
}
