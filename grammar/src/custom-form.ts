import { parseBody } from './body.ts';
import { COLON, EQUALS, OPEN_ANGLE, OPEN_BRACE, OPEN_PAREN } from './characters.ts';
import {
  type Dictionary,
  emptyDictionary,
  parseDictionary,
  parseMaps,
  parseProperties,
  type Source,
} from './dictionary.ts';
import { parseFrontEnd } from './front-end.ts';
import {
  decline,
  dictionaryInsertion,
  type Draft,
  finish,
  isNoOperation,
  mayContract,
  namedBody,
  parseResults,
  parseTypes,
  parseValues,
  type Refusal,
  refuse,
} from './operation.ts';
import { ARROW, ATTRIBUTE_NAME, IDENTIFIER } from './scanner.ts';
import type { OperationRow } from './table.ts';
import type { InsertionPoint, Type } from './types.ts';

/** Most attributes of a trait. Each use of a trait copies its attributes, so this limit keeps the time linear. */
const MOST_ATTRIBUTES = 64;

/** Reads an operation in its custom form, from its name as the current token to its end. */
export function parseCustomForm(source: Source, row: OperationRow): Draft | Refusal {
  if (row.dictionary === 'before-types') return parseFrontEnd(source, row);
  return row.dictionary === 'before-ins' ? parseNamed(source, row) : parseGeneric(source, row);
}

// ebnf: named-operation
function parseNamed(source: Source, row: OperationRow): Draft | Refusal {
  const { scanner } = source;
  const { start, pos: nameEnd } = scanner;
  const dictionary = emptyDictionary();
  let insertion: InsertionPoint = { offset: nameEnd, before: ' {', after: '}' };

  scanner.next();
  if (isNoOperation(scanner.kind)) return decline();
  if (row.mapsKeyword !== 'never' && scanner.is('indexing_maps')) {
    const attribute = scanner.start;
    if (scanner.next() !== EQUALS) return refuse("expected '=' after indexing_maps");
    dictionary.indexingMaps = parseMaps(source);
    if (dictionary.indexingMaps === null) return refuse('the indexing maps are not understood');
    dictionary.attributes.push({ name: 'indexing_maps', start: attribute, end: scanner.pos });
    insertion = { ...insertion, offset: scanner.pos };
    scanner.next();
  }
  const front = parseFront(source, dictionary, insertion);
  if (typeof front === 'string') return refuse(front);
  insertion = front;

  const operands = parseOperandLists(source);
  if (typeof operands === 'string') return refuse(operands);
  if (scanner.take(OPEN_BRACE)) {
    const trailing = dictionaryInsertion(source, dictionary);
    if (trailing === null) return refuse('the attribute dictionary is not understood');
    if (insertion.before !== '') insertion = trailing;
  }
  const results = parseOptionalResults(source);
  if (results === null) return refuse('the result types are not understood');
  const { pos: end } = scanner;
  const body = namedBody(row, dictionary);
  return finish({ ...operands, results, row, form: 'custom', start, end, dictionary, body, insertion });
}

// ebnf: generic-operation
function parseGeneric(source: Source, row: OperationRow): Draft | Refusal {
  const { scanner, text, aliases } = source;
  const { start } = scanner;
  const dictionary = emptyDictionary();

  scanner.next();
  if (isNoOperation(scanner.kind)) return decline();
  if (scanner.kind === ATTRIBUTE_NAME) {
    const trait = aliases.dictionary(text.slice(scanner.start, scanner.pos));
    if (trait === null || trait.attributes.length > MOST_ATTRIBUTES)
      return refuse('the attribute alias is not known or not a dictionary');
    Object.assign(dictionary, trait, { attributes: [...trait.attributes] } satisfies Partial<Dictionary>);
  } else if (parseDictionary(source, dictionary) === null) {
    return refuse('the attribute dictionary is not understood');
  }

  scanner.next();
  const absent = { offset: -1, before: ' attrs = {', after: '}' };
  const front = parseFront(source, dictionary, absent);
  if (typeof front === 'string') return refuse(front);
  const operands = parseOperandLists(source);
  if (typeof operands === 'string') return refuse(operands);
  let insertion = front.before === '' ? front : { ...absent, offset: scanner.pos };
  scanner.next();
  if (scanner.kind === IDENTIFIER && scanner.is('attrs')) {
    if (scanner.next() !== EQUALS || scanner.next() !== OPEN_BRACE)
      return refuse("expected '{' after attrs =");
    const inside = dictionaryInsertion(source, dictionary);
    if (inside === null) return refuse('the attribute dictionary is not understood');
    insertion = inside;
    scanner.next();
  }
  if (scanner.kind !== OPEN_BRACE) return refuse("expected a region '{'");
  if (!mayContract(row, operands.values.length, operands.inputs, dictionary)) {
    // The scan goes on inside the region.
    return dictionary.iteratorTypes === null
      ? refuse('the iterator types are not understood')
      : decline(scanner.start);
  }
  const body = parseBody(source);
  if (body === null) return refuse('the region does not end');
  const results = parseOptionalResults(source);
  if (results === null) return refuse('the result types are not understood');
  const { pos: end } = scanner;
  return finish({ ...operands, results, row, form: 'custom', start, end, dictionary, body, insertion });
}

/** Reads `-> T` if it comes next. Null when its types are not understood. */
const parseOptionalResults = (source: Source): Type[] | null =>
  source.scanner.take(ARROW) ? parseResults(source) : [];

/**
 * Reads the optional `<{...}>` and `{...}` before the operands.
 * @param absent the insertion point if there is no `{...}`; its offset moves behind the properties
 * @returns the insertion point, or the message of a problem
 */
// ebnf: front-dictionaries
function parseFront(source: Source, dictionary: Dictionary, absent: InsertionPoint): InsertionPoint | string {
  const { scanner } = source;
  let insertion = absent;
  if (scanner.at(OPEN_ANGLE)) {
    // Never the place for an insertion: the compiler drops unknown properties.
    if (!parseProperties(source, dictionary)) return 'the properties are not understood';
    insertion = { ...absent, offset: scanner.pos };
    scanner.next();
  }
  if (scanner.at(OPEN_BRACE)) {
    const inside = dictionaryInsertion(source, dictionary);
    if (inside === null) return 'the attribute dictionary is not understood';
    insertion = inside;
    scanner.next();
  }
  return insertion;
}

interface Operands {
  readonly values: string[];
  readonly types: Type[];
  readonly inputs: number;
}

/** Reads `ins(%a, %b : T1, T2) outs(%c : T3)`, with its first word as the current token. A string is the problem. */
// ebnf: operand-lists
function parseOperandLists(source: Source): Operands | string {
  const { scanner } = source;
  const values: string[] = [];
  const types: Type[] = [];
  let inputs = 0;
  if (scanner.is('ins')) {
    if (!parseOperandList(source, values, types)) return 'the list of inputs is not understood';
    inputs = values.length;
    scanner.next();
  }
  if (!scanner.is('outs')) return "expected 'outs'";
  if (!parseOperandList(source, values, types)) return 'the list of outputs is not understood';
  return { values, types, inputs };
}

/** Reads `(%a, %b : T1, T2)` and leaves its `)` as the current token. */
function parseOperandList(source: Source, values: string[], types: Type[]): boolean {
  const { scanner } = source;
  if (scanner.next() !== OPEN_PAREN) return false;
  parseValues(source, values);
  if (scanner.kind !== COLON) return false;
  return parseTypes(source, types) && values.length === types.length;
}
