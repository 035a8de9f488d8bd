import {
  CLOSE_ANGLE,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  CLOSERS,
  COMMA,
  EQUALS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
} from './characters.ts';
import { skipRawBody } from './raw-body.ts';
import { ATTRIBUTE_NAME, END, METADATA_END, type Scanner, TYPE_NAME } from './scanner.ts';

/**
 * Steps over tokens, brackets and what they hold, up to the first token outside of brackets that is of the kind `stop`
 * or closes a bracket opened before. That token is left to be read by the next `next()`.
 *
 * Returns the offset after the last token stepped over (the starting position if there was none), or -1 when the text
 * ends or brackets do not match.
 */
// ebnf: opaque
export function skipBalanced(scanner: Scanner, stop = -1): number {
  // An explicit stack of openers: text decides its depth, so the call stack must not.
  const open: number[] = [];
  let last = scanner.pos;
  for (;;) {
    const kind = scanner.next();
    if (kind === END) return -1;
    if (kind === ATTRIBUTE_NAME || kind === TYPE_NAME) skipRawBody(scanner);
    if (kind === stop && open.length === 0) break;
    if (kind === OPEN_PAREN || kind === OPEN_BRACKET || kind === OPEN_BRACE) {
      open.push(kind);
    } else if (kind === OPEN_ANGLE) {
      // `d0 <= 3` in an integer set is a comparison.
      if (scanner.bytes[scanner.pos] !== EQUALS) open.push(kind);
    } else if (kind === CLOSE_ANGLE) {
      // Inside other brackets an angle that closes nothing is a comparison too.
      if (open.length === 0) break;
      if (open[open.length - 1] === OPEN_ANGLE) open.pop();
    } else if (kind === CLOSE_PAREN || kind === CLOSE_BRACKET || kind === CLOSE_BRACE) {
      // What looked like an opening angle was none.
      while (open[open.length - 1] === OPEN_ANGLE) open.pop();
      if (open.length === 0) break;
      if (CLOSERS[open.pop()!] !== kind) return -1;
    }
    last = scanner.pos;
  }
  scanner.pos = scanner.start;
  return last;
}

/** Steps over one bracket and what it holds, when the current token opens it. Returns the offset after it, or -1. */
// ebnf: brackets
export function skipGroup(scanner: Scanner): number {
  const close = CLOSERS[scanner.kind]!;
  if (skipBalanced(scanner) < 0) return -1;
  return scanner.next() === close ? scanner.pos : -1;
}

/** Steps over an attribute value or a type in a list. Returns the offset after it, or -1 when there is none. */
// ebnf: element
export function skipElement(scanner: Scanner): number {
  const from = scanner.pos;
  const to = skipBalanced(scanner, COMMA);
  return to === from ? -1 : to;
}

/**
 * Steps over a `{-# ... #-}` section whose first token is current; dense resources in it are single strings. False, right
 * after its first token, when it does not end.
 */
// ebnf: file-metadata
export function skipMetadata(scanner: Scanner): boolean {
  const { start, pos } = scanner;
  // Each of many without an end would take all of the text.
  if (scanner.lacksMetadataEnd) return false;
  let kind: number;
  do kind = scanner.next();
  while (kind !== METADATA_END && kind !== END);
  if (kind === METADATA_END) return true;
  scanner.lacksMetadataEnd = true;
  scanner.start = start;
  scanner.pos = pos;
  return false;
}

/** Steps over the rest of a region after its `{`, whatever brackets other than braces do. False when the text ends. */
// ebnf: braces
export function skipBraces(scanner: Scanner): boolean {
  for (let depth = 1; depth > 0;) {
    const kind = scanner.next();
    if (kind === OPEN_BRACE) depth++;
    else if (kind === CLOSE_BRACE) depth--;
    else if (kind === ATTRIBUTE_NAME || kind === TYPE_NAME) skipRawBody(scanner);
    else if (kind === END) return false;
  }
  return true;
}
