import { type Dictionary, parseDictionary, type Source } from './dictionary.ts';
import { CLOSE_BRACE, CLOSE_PAREN, COMMA, EQUALS, OPEN_PAREN } from './characters.ts';
import { VALUE } from './scanner.ts';
import type { OperationRow } from './table.ts';
import { parseType } from './type.ts';
import type { AffineMap, Body, InsertionPoint, IteratorType, Operand, Operation, Type } from './types.ts';

/** An operation whose surroundings (chunk, symbol, constant operands) are still to be filled in. */
export interface Draft {
  readonly name: string;
  readonly kind: Operation['kind'];
  readonly form: Operation['form'];
  readonly start: number;
  readonly end: number;
  chunk: number;
  symbol: string | null;
  readonly operands: (Omit<Operand, 'constant'> & { constant: boolean })[];
  readonly results: readonly Type[];
  resultNames: readonly string[];
  readonly indexingMaps: readonly AffineMap[];
  readonly iteratorTypes: readonly IteratorType[];
  readonly body: Body;
  readonly attributes: Operation['attributes'];
  readonly insertion: InsertionPoint;
}

/** Why a recognised name did not become an operation. */
export interface Refusal {
  /** Null when the text is fine but no contraction, or no operation at all. */
  readonly message: string | null;
  /** Where scanning can go on; -1 is right after the name. */
  readonly resume: number;
  /** The `torch.operator` that was read, when it is none of the table. */
  readonly operator?: Operator;
}

/** A `torch.operator`: what its string says, and its first operand. */
export interface Operator {
  readonly name: string;
  readonly operand: string | undefined;
}

/** A refusal of text that was not understood. */
export function refuse(message: string): Refusal {
  return { message, resume: -1 };
}

/** Refuses what is well understood and of no interest; scanning goes on at `resume`. */
export function decline(resume = -1): Refusal {
  return { message: null, resume };
}

/** The parts that the custom and the quoted form both end with. */
export interface Parts {
  readonly row: OperationRow;
  readonly form: Operation['form'];
  readonly start: number;
  readonly end: number;
  readonly values: readonly string[];
  readonly types: readonly Type[];
  readonly results: readonly Type[];
  /** How many of the values are inputs; -1 when the text does not say. */
  readonly inputs: number;
  readonly dictionary: Dictionary;
  readonly body: Body;
  readonly insertion: InsertionPoint;
}

/** Checks that the parts fit together and with the operation's row, so that nothing half understood gets out. */
export function finish(parts: Parts): Draft | Refusal {
  const { row, values, types, dictionary } = parts;
  if (values.length !== types.length) return refuse('the operands and their types differ in number');
  if (!isCountRight(row, values.length) || (parts.inputs >= 0 && parts.inputs !== row.inputs)) {
    return refuse(`expected ${row.inputs} inputs and ${row.roles.length - row.inputs} outputs`);
  }
  if (row.kind !== 'contraction') return draft(parts, [], []);
  const indexingMaps = mapsOf(parts);
  if (indexingMaps === null) return refuse('the indexing maps are missing or not understood');
  if (indexingMaps.length !== values.length) return refuse('expected one indexing map per operand');
  const iteratorTypes = row.iteratorTypes ?? dictionary.iteratorTypes ?? impliedIterators(indexingMaps);
  if (indexingMaps.some((map) => map.dimensions !== iteratorTypes.length)) {
    return refuse('the indexing maps and the iterator types differ in their number of dimensions');
  }
  return draft(parts, indexingMaps, iteratorTypes);
}

function isCountRight(row: OperationRow, count: number): boolean {
  const { length } = row.roles;
  return count >= length - row.optional && (count <= length || row.rest !== null);
}

function draft(
  parts: Parts,
  indexingMaps: readonly AffineMap[],
  iteratorTypes: readonly IteratorType[],
): Draft {
  const { row } = parts;
  return {
    name: row.name,
    kind: row.kind,
    form: parts.form,
    start: parts.start,
    end: parts.end,
    chunk: 0,
    symbol: null,
    operands: parts.values.map((value, index) => ({
      role: row.roles[index] ?? row.rest!,
      value,
      type: parts.types[index]!,
      constant: false,
    })),
    results: parts.results,
    resultNames: [],
    indexingMaps,
    iteratorTypes,
    body: parts.body,
    attributes: parts.dictionary.attributes,
    insertion: parts.insertion,
  };
}

/** What an operation with this name computes; only its `cast` attribute changes it. */
export function namedBody(row: OperationRow, dictionary: Dictionary): Body {
  if (row.body === 'other') return 'other';
  return dictionary.unsigned ? 'multiply-add-unsigned' : 'multiply-add';
}

/** Two inputs, one output and something to sum over: worth a look into the region. */
export function mayContract(
  row: OperationRow,
  values: number,
  inputs: number,
  dictionary: Dictionary,
): boolean {
  return (
    values === row.roles.length &&
    (inputs < 0 || inputs === row.inputs) &&
    dictionary.iteratorTypes !== null &&
    dictionary.iteratorTypes.includes('reduction')
  );
}

/** The maps of the text or else the default ones; null when the text has maps that were not understood. */
function mapsOf({ row, dictionary }: Parts): readonly AffineMap[] | null {
  // `indexing_maps` on a `linalg.matvec` would be a discardable attribute without a meaning.
  if (row.body !== 'region' && row.mapsKeyword === 'never') return row.defaultMaps;
  if (dictionary.indexingMaps !== null) return dictionary.indexingMaps;
  return dictionary.attributes.some(({ name }) => name === 'indexing_maps') ? null : row.defaultMaps;
}

/** What is in the output's map is parallel, the rest is summed over: the rule of `linalg.contract`. */
function impliedIterators(maps: readonly AffineMap[]): IteratorType[] {
  const output = maps[maps.length - 1]!;
  return Array.from({ length: output.dimensions }, (_, dimension) =>
    output.results.includes(dimension) ? 'parallel' : 'reduction',
  );
}

/** Reads `%a, %b` up to a token that is neither; that token is current afterwards. */
// ebnf: value-list
export function parseValues(source: Source, values: string[]): void {
  const { scanner, text } = source;
  while (scanner.next() === VALUE) {
    values.push(text.value(scanner.start, scanner.pos));
    if (scanner.next() !== COMMA) return;
  }
}

/** After the name of an operation `=`, `,` or `}` tell that it is a name in a dictionary or list. */
export function isNoOperation(kind: number): boolean {
  return kind === EQUALS || kind === COMMA || kind === CLOSE_BRACE;
}

/** Reads the dictionary whose `{` is current, and says how to add to it; null when it is not understood. */
export function dictionaryInsertion(source: Source, into: Dictionary): InsertionPoint | null {
  const offset = source.scanner.pos;
  const count = into.attributes.length;
  if (parseDictionary(source, into) === null) return null;
  return insideDictionary(offset, into.attributes.length === count);
}

/** Reads `T1, T2)`; true when the `)`, or another `close`, was reached, which is current afterwards. */
// ebnf: type-list
export function parseTypes(source: Source, types: Type[], close = CLOSE_PAREN): boolean {
  const { scanner } = source;
  const before = scanner.pos;
  if (scanner.next() === close) return true;
  scanner.pos = before;
  do {
    const type = parseType(source);
    if (type === null) return false;
    types.push(type);
  } while (scanner.next() === COMMA);
  return scanner.kind === close;
}

/** Reads `T` or `(T1, T2)` after `->`, and leaves the scanner after it. Null when it is not understood. */
// ebnf: result-types
export function parseResults(source: Source): Type[] | null {
  const { scanner } = source;
  const before = scanner.pos;
  if (scanner.next() === OPEN_PAREN) {
    const types: Type[] = [];
    return parseTypes(source, types) ? types : null;
  }
  scanner.pos = before;
  const type = parseType(source);
  return type === null ? null : [type];
}

/** The insertion point inside the dictionary whose `{` ends at `offset`. */
function insideDictionary(offset: number, empty: boolean): InsertionPoint {
  // At the front: there a comment before the closing brace cannot swallow the new text.
  return { offset, before: '', after: empty ? '' : ', ' };
}
