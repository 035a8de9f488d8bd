import { skipGroup } from './balanced.ts';
import { parseBody } from './body.ts';
import { CLOSE_PAREN, COLON, OPEN_ANGLE, OPEN_BRACE, OPEN_BRACKET, OPEN_PAREN } from './characters.ts';
import { type Dictionary, emptyDictionary, parseProperties, type Source } from './dictionary.ts';
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
 * Reads an operation in the quoted form, `"name"(...) ... : (...) -> ...`, from its name as the current token to its end.
 * @param row null for a `"torch.operator"`
 */
// ebnf: quoted-operation
export function parseQuotedForm(source: Source, row: OperationRow | null): Draft | Refusal {
  return parseRest(source, row, 'quoted', source.scanner.start);
}

/** Reads `torch.operator "name"(...) ... : (...) -> ...` likewise: the custom form of a `torch.operator`. */
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

/** Reads on after the name, the current token. @param known null: the properties name the row */
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
  // `pdl.operation "linalg.matmul" (%0, %1 : !pdl.value, !pdl.value)` is a pattern, no operation.
  if (scanner.at(COLON)) return decline();
  if (!scanner.at(CLOSE_PAREN)) return refuse('the operands are not understood');
  let end = scanner.pos;

  if (scanner.next() === OPEN_BRACKET) {
    // Successors. No operation of the table has any.
    if (skipGroup(scanner) < 0) return refuse('the successors do not end');
    end = scanner.pos;
    scanner.next();
  }
  if (scanner.at(OPEN_ANGLE)) {
    if (!parseProperties(source, dictionary)) return refuse('the properties are not understood');
    row ??= operatorOf(dictionary);
    // Decline before the regions: nested operations would each skip the rest of the text.
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
    // The dictionary with the iterator types may follow the region, so the region is read last.
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

/** The row that the `name` of a `"torch.operator"` selects. */
function operatorOf({ operator }: Dictionary): OperationRow | null {
  return operator === null ? null : (operators.get(operator) ?? null);
}

function declineOperator({ operator: name }: Dictionary, [operand]: readonly string[]): Refusal {
  return name === null ? decline() : { ...decline(), operator: { name, operand } };
}
