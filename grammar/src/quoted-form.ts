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
import { type Dictionary, emptyDictionary, parseDictionary, type Source } from './dictionary.ts';
import {
  decline,
  dictionaryInsertion,
  type Draft,
  finish,
  mayContract,
  namedBody,
  parseResults,
  parseTypes,
  parseValues,
  type Refusal,
  refuse,
} from './operation.ts';
import { ARROW, STRING, VALUE } from './scanner.ts';
import { type OperationRow, operators } from './table.ts';
import type { Body, InsertionPoint, Type } from './types.ts';

/**
 * Reads an operation in the form that every operation has, `"name"(...) ... : (...) -> ...`, its name being the
 * current token; leaves the scanner at its end. Without a row it is a `"torch.operator"`.
 */
// ebnf: quoted-operation
export function parseQuotedForm(source: Source, row: OperationRow | null): Draft | Refusal {
  return parseRest(source, row, 'quoted', source.scanner.start);
}

/** Reads `torch.operator "name"(...) ... : (...) -> ...` likewise, which is the custom form of such an operation. */
// ebnf: operator-operation
export function parseOperator(source: Source): Draft | Refusal {
  const { scanner, text } = source;
  const { start } = scanner;
  if (scanner.next() !== STRING) return decline();
  const name = text.slice(scanner.start + 1, scanner.pos - 1);
  const row = operators.get(name);
  if (row !== undefined) return parseRest(source, row, 'custom', start);
  const hasOperand = scanner.next() === OPEN_PAREN && scanner.next() === VALUE;
  const operand = hasOperand ? text.value(scanner.start, scanner.pos) : undefined;
  return { ...decline(), operator: { name, operand } };
}

/** Reads what follows the name, which is the current token; a null row is looked up in the properties. */
// ebnf: operation-rest
function parseRest(
  source: Source,
  known: OperationRow | null,
  form: Draft['form'],
  start: number,
): Draft | Refusal {
  const { scanner } = source;
  let row = known;
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
    row ??= operatorOf(dictionary);
    // Before its regions, which hold the rest of the text where such operations nest.
    if (row === null) return declineOperator(dictionary, values);
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
    const inside = dictionaryInsertion(source, dictionary);
    if (inside === null) return refuse('the attribute dictionary is not understood');
    insertion = inside;
    scanner.next();
  }
  row ??= operatorOf(dictionary);
  if (row === null) return declineOperator(dictionary, values);
  if (!scanner.at(COLON) || scanner.next() !== OPEN_PAREN || !parseTypes(source, types)) {
    return refuse('the operand types are not understood');
  }
  if (scanner.next() !== ARROW) return refuse("expected '->'");
  const results = parseResults(source);
  if (results === null) return refuse('the result types are not understood');
  end = scanner.pos;

  const inputs = dictionary.segments === null ? -1 : (dictionary.segments[0] ?? -1);
  let body: Body = namedBody(row, dictionary);
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
  return finish({ row, form, start, end, values, types, results, inputs, dictionary, body, insertion });
}

/** The row that the `name` of a `"torch.operator"` says. */
function operatorOf({ operator }: Dictionary): OperationRow | null {
  return operator === null ? null : (operators.get(operator) ?? null);
}

function declineOperator({ operator: name }: Dictionary, [operand]: readonly string[]): Refusal {
  return name === null ? decline() : { ...decline(), operator: { name, operand } };
}
