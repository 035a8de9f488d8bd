import { skipGroup } from './balanced.ts';
import { parseBody } from './body.ts';
import {
  CLOSE_ANGLE,
  CLOSE_PAREN,
  COLON,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
} from './characters.ts';
import { emptyDictionary, parseDictionary, type Source } from './dictionary.ts';
import {
  decline,
  type Draft,
  finish,
  insideDictionary,
  mayContract,
  namedBody,
  parseTypes,
  parseValues,
  type Refusal,
  refuse,
} from './operation.ts';
import { ARROW } from './scanner.ts';
import type { OperationRow } from './table.ts';
import { skipType } from './type.ts';
import type { Body, InsertionPoint, Type } from './types.ts';

/**
 * Reads an operation in the form that every operation has, `"name"(...) ... : (...) -> ...`, its name being the
 * current token; leaves the scanner at its end.
 */
// ebnf: quoted-operation
export function parseQuotedForm(source: Source, row: OperationRow): Draft | Refusal {
  const { scanner } = source;
  const { start } = scanner;
  const dictionary = emptyDictionary();
  const values: string[] = [];
  const types: Type[] = [];

  scanner.next();
  parseValues(source, values);
  // `pdl.operation "linalg.matmul" (%0, %1 : !pdl.value, !pdl.value)` only talks about operations.
  if (scanner.at(COLON)) return decline();
  if (!scanner.at(CLOSE_PAREN)) return refuse('the operands are not understood');
  let end = scanner.pos;

  if (scanner.next() === OPEN_BRACKET) {
    // Successor blocks, which no operation of the table has.
    if (skipGroup(scanner) < 0) return refuse('the successors do not end');
    end = scanner.pos;
    scanner.next();
  }
  if (scanner.at(OPEN_ANGLE)) {
    scanner.next();
    if (parseDictionary(source, dictionary) === null || scanner.next() !== CLOSE_ANGLE) {
      return refuse('the properties are not understood');
    }
    end = scanner.pos;
    scanner.next();
  }
  let region = -1;
  if (scanner.at(OPEN_PAREN)) {
    region = scanner.pos;
    end = skipGroup(scanner);
    if (end < 0) return refuse('the regions do not end');
    scanner.next();
  }
  let insertion: InsertionPoint = { offset: end, before: ' {', after: '}' };
  if (scanner.at(OPEN_BRACE)) {
    const offset = scanner.pos;
    const count = dictionary.attributes.length;
    if (parseDictionary(source, dictionary) === null)
      return refuse('the attribute dictionary is not understood');
    insertion = insideDictionary(offset, dictionary.attributes.length === count);
    scanner.next();
  }
  if (!scanner.at(COLON) || scanner.next() !== OPEN_PAREN || !parseTypes(source, types)) {
    return refuse('the operand types are not understood');
  }
  if (scanner.next() !== ARROW) return refuse("expected '->'");
  end = skipType(scanner);
  if (end < 0) return refuse('the result types are not understood');

  const inputs = dictionary.segments === null ? -1 : (dictionary.segments[0] ?? -1);
  let body: Body = namedBody(dictionary);
  if (row.body === 'region') {
    // Only now: the dictionary that tells whether the region matters may follow it.
    if (!mayContract(row, values.length, inputs, dictionary)) {
      if (dictionary.iteratorTypes === null) return refuse('the iterator types are not understood');
      return decline(region);
    }
    scanner.pos = region;
    body = scanner.next() === OPEN_BRACE ? (parseBody(source) ?? 'other') : 'other';
  }
  scanner.pos = end;
  return finish({ row, form: 'quoted', start, end, values, types, inputs, dictionary, body, insertion });
}
