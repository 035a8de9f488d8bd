import { skipElement, skipGroup } from './balanced.ts';
import {
  CLOSE_BRACE,
  CLOSE_PAREN,
  COLON,
  COMMA,
  EQUALS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_PAREN,
} from './characters.ts';
import type { Source } from './dictionary.ts';
import { BLOCK_NAME, END, IDENTIFIER, type Scanner, STRING, VALUE } from './scanner.ts';
import type { Body } from './types.ts';

/** A contraction with its casts needs fewer statements. */
const MOST_STATEMENTS = 16;

/** The meaning of a value in the region. */
type Meaning = 'lhs' | 'rhs' | 'accumulator' | 'product' | 'sum';

interface Known {
  readonly meaning: Meaning;
  /** Conversion of an input to the accumulator's type; `other` for any other change of a value. */
  readonly cast: 'none' | 'signed' | 'unsigned' | 'other';
}

const CASTS: ReadonlyMap<string, Known['cast']> = new Map([
  ['arith.extf', 'signed'],
  ['arith.truncf', 'signed'],
  ['arith.extsi', 'signed'],
  ['arith.trunci', 'signed'],
  ['arith.sitofp', 'signed'],
  ['arith.fptosi', 'signed'],
  ['arith.extui', 'unsigned'],
  ['arith.uitofp', 'unsigned'],
  ['arith.fptoui', 'unsigned'],
]);

/** The additions that can follow each multiplication. The compiler's matchers accept `andi` with `ori` as one too. */
const ADDITIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['arith.mulf', ['arith.addf', 'arith.addi']],
  ['arith.muli', ['arith.addf', 'arith.addi']],
  ['arith.andi', ['arith.ori']],
]);

/**
 * Reads the computation of a region, with its `{` as the current token, and leaves the scanner after its `}`.
 * Null for a region without an end.
 */
// ebnf: region
export function parseBody(source: Source): Body | null {
  const { scanner } = source;
  const open = scanner.start;
  const body = parseContraction(source);
  if (body !== null) return body;
  scanner.pos = open;
  scanner.next();
  return skipGroup(scanner) < 0 ? null : 'other';
}

/** Reads a whole region, its `}` included, as a contraction. Null for any other region. */
// ebnf: contraction-body
function parseContraction(source: Source): Body | null {
  const { scanner, text } = source;
  const known = parseBlockArguments(source);
  if (known === null) return null;

  let statement = scanner.next();
  let unsigned = false;
  let additions: readonly string[] = [];
  for (let count = 0; statement === VALUE && count < MOST_STATEMENTS; count++) {
    const result = text.slice(scanner.start, scanner.pos);
    if (scanner.next() !== EQUALS) return null;
    scanner.next();
    const name = operationName(source);
    if (name === null) return null;
    const operands = parseOperands(source);
    if (operands === null) return null;
    const first = known.get(operands[0]!);
    const second = operands.length === 2 ? known.get(operands[1]!) : undefined;
    if (first === undefined) return null;

    if (operands.length === 1) {
      // Named operations convert each input once. More conversions compute something else.
      const isInput = first.meaning === 'lhs' || first.meaning === 'rhs';
      const cast = isInput && first.cast === 'none' ? (CASTS.get(name) ?? 'other') : 'other';
      known.set(result, { meaning: first.meaning, cast });
    } else {
      const isSum = additions.includes(name);
      if (!isSum) additions = ADDITIONS.get(name) ?? [];
      if (additions.length === 0 || second === undefined) return null;
      if (!(isSum ? are(first, second, 'product', 'accumulator') : are(first, second, 'lhs', 'rhs')))
        return null;
      const casts = [first.cast, second.cast];
      unsigned ||= casts.includes('unsigned');
      const isMixed = casts.includes('signed') && casts.includes('unsigned');
      const isOther = isMixed || casts.includes('other') || name === 'arith.andi';
      known.set(result, { meaning: isSum ? 'sum' : 'product', cast: isOther ? 'other' : 'none' });
    }
    statement = skipToStatement(scanner);
  }

  if (operationName(source) !== 'linalg.yield') return null;
  const yielded = parseOperands(source);
  const sum = yielded?.length === 1 ? known.get(yielded[0]!) : undefined;
  if (sum?.meaning !== 'sum' || skipToStatement(scanner) !== CLOSE_BRACE) return null;
  if (sum.cast === 'other') return 'multiply-add-like';
  return unsigned ? 'multiply-add-unsigned' : 'multiply-add';
}

/** Reads `{ ^bb0(%lhs: T, %rhs: T, %acc: T):`, with the `{` as the current token. */
// ebnf: block-header
function parseBlockArguments(source: Source): Map<string, Known> | null {
  const { scanner, text } = source;
  if (scanner.kind !== OPEN_BRACE || scanner.next() !== BLOCK_NAME || scanner.next() !== OPEN_PAREN)
    return null;
  const known = new Map<string, Known>();
  for (const meaning of ['lhs', 'rhs', 'accumulator'] as const) {
    if (scanner.next() !== VALUE) return null;
    known.set(text.slice(scanner.start, scanner.pos), { meaning, cast: 'none' });
    if (scanner.next() !== COLON || skipElement(scanner) < 0) return null;
    if (scanner.next() !== (meaning === 'accumulator' ? CLOSE_PAREN : COMMA)) return null;
  }
  return scanner.next() === COLON ? known : null;
}

/** The current token as the name of an operation, custom or quoted; null for other tokens. */
function operationName(source: Source): string | null {
  const { scanner, text } = source;
  if (scanner.kind === IDENTIFIER) return text.slice(scanner.start, scanner.pos);
  return scanner.kind === STRING ? text.slice(scanner.start + 1, scanner.pos - 1) : null;
}

/** Reads `%a`, `%a, %b` or the same in parentheses after a name. Null for other text. */
function parseOperands(source: Source): string[] | null {
  const { scanner, text } = source;
  const operands: string[] = [];
  const parenthesised = scanner.next() === OPEN_PAREN;
  if (parenthesised) scanner.next();
  while (operands.length < 2) {
    if (scanner.kind !== VALUE) return null;
    operands.push(text.value(scanner.start, scanner.pos));
    if (scanner.next() !== COMMA) break;
    scanner.next();
  }
  if (parenthesised) return scanner.kind === CLOSE_PAREN ? operands : null;
  scanner.pos = scanner.start;
  return operands;
}

/**
 * Steps over attributes and types to the next statement or the end of the region. Returns the kind of the first token: a
 * value, a name or the `}`.
 */
function skipToStatement(scanner: Scanner): number {
  for (;;) {
    const kind = scanner.next();
    if (kind === VALUE || kind === CLOSE_BRACE || kind === STRING) return kind;
    if (kind === IDENTIFIER && scanner.hasDot(scanner.start, scanner.pos)) return kind;
    if (kind === OPEN_PAREN || kind === OPEN_ANGLE || kind === OPEN_BRACE) {
      if (skipGroup(scanner) < 0) return END;
    } else if (kind === END) {
      return END;
    }
  }
}

function are(first: Known, second: Known, one: Meaning, other: Meaning): boolean {
  return (
    (first.meaning === one && second.meaning === other) || (first.meaning === other && second.meaning === one)
  );
}
