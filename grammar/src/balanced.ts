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
 * Steps over tokens and balanced brackets. Stops before the first token outside of brackets that has the kind `stop` or
 * closes an outer bracket.
 * @returns the offset after the last token (the start without tokens), or -1 at the end of the text or for brackets that
 * do not match
 */
// ebnf: opaque
export function skipBalanced(scanner: Scanner, stop = -1): number {
  // A stack of openers replaces recursion, because the text decides the depth.
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
      // `d0 <= 3` is a comparison.
      if (scanner.bytes[scanner.pos] !== EQUALS) open.push(kind);
    } else if (kind === CLOSE_ANGLE) {
      // In other brackets, an angle that closes nothing is a comparison.
      if (open.length === 0) break;
      if (open[open.length - 1] === OPEN_ANGLE) open.pop();
    } else if (kind === CLOSE_PAREN || kind === CLOSE_BRACKET || kind === CLOSE_BRACE) {
      // An open `<` in these brackets was a comparison.
      while (open[open.length - 1] === OPEN_ANGLE) open.pop();
      if (open.length === 0) break;
      if (CLOSERS[open.pop()!] !== kind) return -1;
    }
    last = scanner.pos;
  }
  scanner.pos = scanner.start;
  return last;
}

/** Steps over the group that the current token opens. Returns the offset after it, or -1 for malformed text. */
// ebnf: brackets
export function skipGroup(scanner: Scanner): number {
  const close = CLOSERS[scanner.kind]!;
  if (skipBalanced(scanner) < 0) return -1;
  return scanner.next() === close ? scanner.pos : -1;
}

/** Steps over one attribute value or type of a list. Returns the offset after it, or -1 without one. */
// ebnf: element
export function skipElement(scanner: Scanner): number {
  const from = scanner.pos;
  const to = skipBalanced(scanner, COMMA);
  return to === from ? -1 : to;
}

/**
 * Steps over a `{-# ... #-}` section, from its first token as the current token. On false, the section has no end and the
 * scanner is right after the first token.
 */
// ebnf: file-metadata
export function skipMetadata(scanner: Scanner): boolean {
  const { start, pos } = scanner;
  // One search is enough: each unterminated section would search the rest of the text.
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

/** Steps over the rest of a region after its `{`. Ignores all brackets but braces. False at the end of the text. */
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
