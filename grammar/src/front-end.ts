import { skipGroup } from './balanced.ts';
import {
  CLOSE_PAREN,
  COLON,
  COMMA,
  EQUALS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
} from './characters.ts';
import { type Dictionary, emptyDictionary, type Source } from './dictionary.ts';
import {
  decline,
  dictionaryInsertion,
  type Draft,
  finish,
  isNoOperation,
  parseResults,
  parseTypes,
  parseValues,
  type Refusal,
  refuse,
} from './operation.ts';
import { ARROW, ATTRIBUTE_NAME, IDENTIFIER, NUMBER, type Scanner, STRING } from './scanner.ts';
import type { OperationRow } from './table.ts';
import { parseType } from './type.ts';
import type { InsertionPoint, Type } from './types.ts';

/**
 * Reads `name %a, %b, key = value {...} : types -> types`, or the same with operands in parentheses, from the name as the
 * current token to the end.
 */
// ebnf: front-end-operation
export function parseFrontEnd(source: Source, row: OperationRow): Draft | Refusal {
  const { scanner } = source;
  const { start, pos: nameEnd } = scanner;
  const dictionary = emptyDictionary();
  const values: string[] = [];
  const types: Type[] = [];

  if (isNoOperation(scanner.next())) return decline();
  const parenthesised = scanner.at(OPEN_PAREN);
  if (!parenthesised) scanner.pos = nameEnd;
  parseValues(source, values);
  if (parenthesised) {
    if (!scanner.at(CLOSE_PAREN)) return refuse('the operands are not understood');
    scanner.next();
  }
  if (!parseClauses(source, dictionary)) return refuse('what follows the operands is not understood');
  let insertion: InsertionPoint = { offset: scanner.start, before: '{', after: '} ' };
  if (scanner.at(OPEN_BRACE)) {
    const inside = dictionaryInsertion(source, dictionary);
    if (inside === null) return refuse('the attribute dictionary is not understood');
    insertion = inside;
    scanner.next();
  }
  if (!scanner.at(COLON) || !parseOperandTypes(source, types)) {
    return refuse('the operand types are not understood');
  }
  const results = parseResultList(source);
  if (results === null) return refuse('the result types are not understood');
  const { pos: end } = scanner;
  return finish({
    ...{ row, form: 'custom', start, end, values, types, results },
    ...{ inputs: -1, dictionary, body: 'other', insertion },
  });
}

/**
 * Reads `batching_dims = [0] x [0], precision = [DEFAULT]` or `pad([0, 0]) acc_type(f32)`, with the first word as the
 * current token, and notes the names.
 */
function parseClauses({ scanner, text }: Source, dictionary: Dictionary): boolean {
  while (scanner.at(IDENTIFIER)) {
    const { start } = scanner;
    const name = text.slice(start, scanner.pos);
    const kind = scanner.next();
    if (kind !== EQUALS && kind !== OPEN_PAREN) return false;
    const end = kind === EQUALS ? skipValue(scanner) : skipGroup(scanner);
    if (end < 0) return false;
    if (kind === OPEN_PAREN) scanner.next();
    dictionary.attributes.push({ name, start, end });
    if (scanner.at(COMMA)) scanner.next();
  }
  return true;
}

/** Steps over words and groups to the token behind them. Returns the offset of their end, or -1 for malformed text. */
// ebnf: clause
function skipValue(scanner: Scanner): number {
  const { pos: from } = scanner;
  for (;;) {
    const end = scanner.pos;
    const kind = scanner.next();
    // Other braces are the dictionary of the operation.
    const isBraced = kind === OPEN_BRACE && end === from;
    if (isBraced || kind === OPEN_BRACKET || kind === OPEN_ANGLE || kind === OPEN_PAREN) {
      if (skipGroup(scanner) < 0) return -1;
    } else if (!WORDS.includes(kind)) {
      return end;
    }
  }
}

/** The arrow occurs in `[b, 0, f]x[0, i, o]->[b, 0, f]`. */
const WORDS = [IDENTIFIER, NUMBER, ATTRIBUTE_NAME, STRING, ARROW];

/** Reads `(T1, T2) ->` or `T1, T2 ->`. */
function parseOperandTypes(source: Source, types: Type[]): boolean {
  const { scanner } = source;
  if (scanner.take(OPEN_PAREN)) return parseTypes(source, types) && scanner.next() === ARROW;
  return parseTypes(source, types, ARROW);
}

/** Reads `T`, `(T1, T2)` or `T1, T2` after the arrow, and leaves the scanner after the types. Null for malformed text. */
function parseResultList(source: Source): Type[] | null {
  const results = parseResults(source);
  while (results !== null && source.scanner.take(COMMA)) {
    const type = parseType(source);
    if (type === null) return null;
    results.push(type);
  }
  return results;
}
