import {
  AT,
  BACKSLASH,
  CLASSES,
  CLOSE_ANGLE,
  CLOSE_BRACE,
  DIGIT,
  DOT,
  HASH,
  ID_PART,
  ID_START,
  MINUS,
  NEWLINE,
  OPEN_BRACE,
  PERCENT,
  QUOTE,
  RETURN,
  SLASH,
  SPACE,
  SUFFIX_PART,
} from './characters.ts';
import { find } from './find.ts';

/** The kinds of tokens. A punctuation token has its byte as its kind. */
export const END = 0;
export const IDENTIFIER = 1; // ebnf: bare-id
export const STRING = 2; // ebnf: string
export const BROKEN_STRING = 3;
export const NUMBER = 4; // ebnf: number
export const VALUE = 5; // ebnf: value-id
export const SYMBOL = 6; // ebnf: symbol-id
export const ATTRIBUTE_NAME = 7; // ebnf: attribute-id
export const TYPE_NAME = 8; // ebnf: type-id
export const BLOCK_NAME = 9; // ebnf: block-id
export const ARROW = 10;
export const METADATA_BEGIN = 11;
export const METADATA_END = 12;

const LAST_CONTROL_BYTE = 0x20;
const UNKNOWN = 0x7f;

/** In bytes. Longer strings are mostly hexadecimal constants: a native search finds their end faster. */
const SHORT_STRING = 64;

/**
 * Reads tokens from bytes. The scanner itself holds the current token (`kind`, `start`, `pos`), so a walk over
 * megabytes allocates nothing. Assign `pos` to move forwards or backwards.
 */
export class Scanner {
  readonly bytes: Uint8Array;
  readonly end: number;
  /** Byte offset after the current token. */
  pos: number;
  /** Byte offset of the current token. */
  start: number;
  /** Kind of the current token: a constant above or a punctuation byte. */
  kind = END;
  /** Bytes of unterminated dialect bodies that may still be read. */
  rawBudget: number;
  /** Whether no `#-}` follows. */
  lacksMetadataEnd = false;

  /** The bytes of `input` in [from, to), at the offsets they have in `input`. */
  constructor(input: Uint8Array, from = 0, to = input.length) {
    // Bounding the view lets native searches stop at the end of a chunk.
    this.bytes = to === input.length ? input : input.subarray(0, to);
    this.end = to;
    this.pos = from;
    this.start = from;
    this.rawBudget = 4 * (to - from) + 4096;
  }

  /** Moves to the next token and returns its kind, or {@link END} at the end. */
  next(): number {
    const bytes = this.bytes;
    const end = this.end;
    let pos = this.skipTrivia(this.pos);
    this.start = pos;
    if (pos >= end) {
      this.pos = end;
      return (this.kind = END);
    }
    const byte = bytes[pos]!;
    const bits = CLASSES[byte]!;
    if ((bits & ID_START) !== 0) {
      do pos++;
      while (pos < end && (CLASSES[bytes[pos]!]! & ID_PART) !== 0);
      this.pos = pos;
      return (this.kind = IDENTIFIER);
    }
    if ((bits & DIGIT) !== 0) {
      // `128x256xf32`, `0x1F` and `1.5e` are one token each: the reader of types splits them.
      do pos++;
      while (pos < end && (CLASSES[bytes[pos]!]! & ID_PART) !== 0);
      this.pos = pos;
      return (this.kind = NUMBER);
    }
    switch (byte) {
      case QUOTE:
        return this.string(pos, STRING);
      case PERCENT:
        return this.prefixed(pos, VALUE);
      case AT:
        if (pos + 1 < end && bytes[pos + 1] === QUOTE) return this.string(pos + 1, SYMBOL);
        do pos++;
        while (pos < end && (CLASSES[bytes[pos]!]! & ID_PART) !== 0);
        this.pos = pos;
        return (this.kind = SYMBOL);
      case HASH:
        if (pos + 2 < end && bytes[pos + 1] === MINUS && bytes[pos + 2] === CLOSE_BRACE) {
          this.pos = pos + 3;
          return (this.kind = METADATA_END);
        }
        return this.prefixed(pos, ATTRIBUTE_NAME);
      case 0x21: // !
        return this.prefixed(pos, TYPE_NAME);
      case 0x5e: // ^
        return this.prefixed(pos, BLOCK_NAME);
      case MINUS:
        if (pos + 1 < end && bytes[pos + 1] === CLOSE_ANGLE) {
          this.pos = pos + 2;
          return (this.kind = ARROW);
        }
        break;
      case OPEN_BRACE:
        if (pos + 2 < end && bytes[pos + 1] === MINUS && bytes[pos + 2] === HASH) {
          this.pos = pos + 3;
          return (this.kind = METADATA_BEGIN);
        }
        break;
      default:
        break;
    }
    this.pos = pos + 1;
    // Control bytes have the same numbers as the small kinds above.
    return (this.kind = byte > LAST_CONTROL_BYTE ? byte : UNKNOWN);
  }

  /** The offset of the first byte from `pos` on that is outside of blanks and comments. */
  // ebnf: trivia
  skipTrivia(pos: number): number {
    const bytes = this.bytes;
    const end = this.end;
    while (pos < end) {
      const byte = bytes[pos]!;
      if ((CLASSES[byte]! & SPACE) !== 0) {
        pos++;
      } else if (byte === SLASH && pos + 1 < end && bytes[pos + 1] === SLASH) {
        pos += 2;
        while (pos < end && bytes[pos] !== NEWLINE && bytes[pos] !== RETURN) pos++;
      } else {
        break;
      }
    }
    return pos;
  }

  /** Moves to the next token if the token is of this kind. Otherwise `pos` stays, and the result is false. */
  take(kind: number): boolean {
    const { pos } = this;
    if (this.next() === kind) return true;
    this.pos = pos;
    return false;
  }

  /** Runs `read`, which may move the scanner, and goes back to the current token. */
  lookAhead<T>(read: () => T): T {
    const { pos, start, kind } = this;
    const result = read();
    this.pos = pos;
    this.start = start;
    this.kind = kind;
    return result;
  }

  /** Whether the current token is of this kind. */
  at(kind: number): boolean {
    return this.kind === kind;
  }

  /** Whether the bytes of the current token are exactly `text` (ASCII). */
  is(text: string): boolean {
    const length = text.length;
    if (this.pos - this.start !== length) return false;
    for (let index = 0; index < length; index++) {
      if (this.bytes[this.start + index] !== text.charCodeAt(index)) return false;
    }
    return true;
  }

  /** Whether [from, to) holds a `.`: names of operations and types of dialects do, keywords do not. */
  hasDot(from: number, to: number): boolean {
    for (let index = from; index < to; index++) {
      if (this.bytes[index] === DOT) return true;
    }
    return false;
  }

  private prefixed(pos: number, kind: number): number {
    const bytes = this.bytes;
    const end = this.end;
    pos++;
    if (pos < end && (CLASSES[bytes[pos]!]! & DIGIT) !== 0) {
      // A name that starts with a digit has only digits: `%0x` is two tokens.
      do pos++;
      while (pos < end && (CLASSES[bytes[pos]!]! & DIGIT) !== 0);
    } else {
      while (pos < end && (CLASSES[bytes[pos]!]! & SUFFIX_PART) !== 0) pos++;
    }
    if (kind === VALUE) {
      // `%0#1` is one of several results. The compiler accepts `%0 #1` too.
      const hash = this.skipTrivia(pos);
      if (hash + 1 < end && bytes[hash] === HASH && (CLASSES[bytes[hash + 1]!]! & DIGIT) !== 0) {
        pos = hash + 2;
        while (pos < end && (CLASSES[bytes[pos]!]! & DIGIT) !== 0) pos++;
      }
    }
    this.pos = pos;
    return (this.kind = kind);
  }

  private string(quote: number, kind: number): number {
    const bytes = this.bytes;
    const end = this.end;
    let pos = quote + 1;
    let nativeSearchFrom = pos + SHORT_STRING;
    while (pos < end) {
      const byte = bytes[pos]!;
      if (byte === QUOTE) {
        this.pos = pos + 1;
        return (this.kind = kind);
      }
      if (byte === NEWLINE) break; // A string ends on its line.
      pos += byte === BACKSLASH ? 2 : 1;
      if (pos >= nativeSearchFrom) {
        const close = find(bytes, QUOTE, pos, end);
        if (find(bytes, BACKSLASH, pos, close) < close) {
          // With escapes, the rest of this string is read byte by byte.
          nativeSearchFrom = Infinity;
        } else {
          pos = find(bytes, NEWLINE, pos, close);
        }
      }
    }
    this.pos = Math.min(pos, end);
    return (this.kind = BROKEN_STRING);
  }
}
