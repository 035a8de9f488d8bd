import { skipGroup } from './balanced.ts';
import { COLON, COMMA, EQUALS, OPEN_ANGLE, OPEN_BRACE, OPEN_BRACKET, OPEN_PAREN } from './characters.ts';
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
import { ARROW, ATTRIBUTE_NAME, IDENTIFIER, NUMBER, type Scanner } from './scanner.ts';
import type { OperationRow } from './table.ts';
import type { InsertionPoint, Type } from './types.ts';

/**
 * Reads an operation that is written `name %a, %b, key = value {...} : types -> types`, its name being the current
 * token; leaves the scanner at its end.
 */
// ebnf: front-end-operation
export function parseFrontEnd(source: Source, row: OperationRow): Draft | Refusal {
  const { scanner } = source;
  const { start, pos: nameEnd } = scanner;
  const dictionary = emptyDictionary();
  const values: string[] = [];
  const types: Type[] = [];

  if (isNoOperation(scanner.next())) return decline();
  scanner.pos = nameEnd;
  parseValues(source, values);
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
  const results = parseResults(source);
  if (results === null) return refuse('the result types are not understood');
  const { pos: end } = scanner;
  return finish({
    ...{ row, form: 'custom', start, end, values, types, results },
    ...{ inputs: -1, dictionary, body: 'other', insertion },
  });
}

/** Reads `batching_dims = [0] x [0], precision = [DEFAULT]`, the first word being current, and notes the names. */
function parseClauses({ scanner, text }: Source, dictionary: Dictionary): boolean {
  while (scanner.at(IDENTIFIER)) {
    const { start } = scanner;
    const name = text.slice(start, scanner.pos);
    if (scanner.next() !== EQUALS) return false;
    const end = skipClause(scanner);
    if (end < 0) return false;
    dictionary.attributes.push({ name, start, end });
    if (!scanner.at(COMMA)) break;
    scanner.next();
  }
  return true;
}

/** Steps over words and groups; the token after them is current then. Returns the offset of their end, or -1. */
// ebnf: clause
function skipClause(scanner: Scanner): number {
  for (;;) {
    const end = scanner.pos;
    const kind = scanner.next();
    if (kind === OPEN_BRACKET || kind === OPEN_ANGLE || kind === OPEN_PAREN) {
      if (skipGroup(scanner) < 0) return -1;
    } else if (kind !== IDENTIFIER && kind !== NUMBER && kind !== ATTRIBUTE_NAME) {
      return end;
    }
  }
}

/** Reads `(T1, T2) ->` or `T1, T2 ->`. */
function parseOperandTypes(source: Source, types: Type[]): boolean {
  const { scanner } = source;
  const before = scanner.pos;
  if (scanner.next() === OPEN_PAREN) return parseTypes(source, types) && scanner.next() === ARROW;
  scanner.pos = before;
  return parseTypes(source, types, ARROW);
}
