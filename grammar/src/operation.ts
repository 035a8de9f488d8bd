import { type Dictionary, parseDictionary, type Source } from './dictionary.ts';
import { CLOSE_BRACE, CLOSE_PAREN, COMMA, EQUALS, OPEN_PAREN } from './characters.ts';
import { ARROW, VALUE } from './scanner.ts';
import type { OperationRow } from './table.ts';
import { parseType } from './type.ts';
import type { AffineMap, Body, InsertionPoint, IteratorType, Operand, Operation, Type } from './types.ts';

/** An operation before its chunk, its symbol and its constant operands are filled in. */
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

/** The reason that a recognised name is no operation. */
export interface Refusal {
  /** Null when the text is well formed but of no interest. */
  readonly message: string | null;
  /** Byte offset where the scan goes on; -1 means right after the name. */
  readonly resume: number;
  /** The `torch.operator` that was read, if the table has no row for it. */
  readonly operator?: Operator;
}

/** The string of a `torch.operator`, and its first operand. */
export interface Operator {
  readonly name: string;
  readonly operand: string | undefined;
}

/** Refuses text that is not understood. */
export function refuse(message: string): Refusal {
  return { message, resume: -1 };
}

/** Refuses text that is well formed and of no interest. The scan goes on at `resume`. */
export function decline(resume = -1): Refusal {
  return { message: null, resume };
}

/** The parts that every form of an operation is read into. */
export interface Parts {
  readonly row: OperationRow;
  readonly form: Operation['form'];
  readonly start: number;
  readonly end: number;
  readonly values: readonly string[];
  readonly types: readonly Type[];
  readonly results: readonly Type[];
  /** Number of inputs among the values; -1 when the text does not give it. */
  readonly inputs: number;
  readonly dictionary: Dictionary;
  readonly body: Body;
  readonly insertion: InsertionPoint;
}

/** Checks that the parts fit each other and the row, and makes an operation of them. */
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

/** The body of an operation that its name defines. Only the `cast` attribute changes it. */
export function namedBody(row: OperationRow, dictionary: Dictionary): Body {
  if (row.body === 'other') return 'other';
  return dictionary.unsigned ? 'multiply-add-unsigned' : 'multiply-add';
}

/** Whether a generic has two inputs, one output and a reduction, so that its region can be a contraction. */
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

/** The maps of the text, else the default maps. Null when the maps of the text are not understood. */
function mapsOf({ row, dictionary }: Parts): readonly AffineMap[] | null {
  // On a `linalg.matvec`, for example, `indexing_maps` is a discardable attribute without a meaning.
  if (row.body !== 'region' && row.mapsKeyword === 'never') return row.defaultMaps;
  if (dictionary.indexingMaps !== null) return dictionary.indexingMaps;
  return dictionary.attributes.some(({ name }) => name === 'indexing_maps') ? null : row.defaultMaps;
}

/** Dimensions in the output's map are parallel, all others are reductions: the rule of `linalg.contract`. */
function impliedIterators(maps: readonly AffineMap[]): IteratorType[] {
  const output = maps[maps.length - 1]!;
  return Array.from({ length: output.dimensions }, (_, dimension) =>
    output.results.includes(dimension) ? 'parallel' : 'reduction',
  );
}

/** Reads `%a, %b`. The first token behind the list is the current token afterwards. */
// ebnf: value-list
export function parseValues(source: Source, values: string[]): void {
  const { scanner, text } = source;
  while (scanner.next() === VALUE) {
    values.push(text.value(scanner.start, scanner.pos));
    if (scanner.next() !== COMMA) return;
  }
}

/** Whether the token behind a name shows that the name is in a dictionary or a list. */
export function isNoOperation(kind: number): boolean {
  return kind === EQUALS || kind === COMMA || kind === CLOSE_BRACE;
}

/** Reads the dictionary whose `{` is the current token. Returns the insertion point in it, or null for malformed text. */
export function dictionaryInsertion(source: Source, into: Dictionary): InsertionPoint | null {
  const offset = source.scanner.pos;
  const count = into.attributes.length;
  if (parseDictionary(source, into) === null) return null;
  // At the front: a comment before the closing brace cannot swallow the new text.
  return { offset, before: '', after: into.attributes.length === count ? '' : ', ' };
}

/** Reads `T1, T2)`. True when the `)`, or another token `close`, is the current token afterwards. */
// ebnf: type-list
export function parseTypes(source: Source, types: Type[], close = CLOSE_PAREN): boolean {
  const { scanner } = source;
  if (scanner.take(close)) return true;
  do {
    const type = parseType(source);
    if (type === null) return false;
    types.push(type);
  } while (scanner.next() === COMMA);
  return scanner.kind === close;
}

/** Reads `T` or `(T1, T2)` after `->`, and leaves the scanner after the types. Null when they are not understood. */
// ebnf: result-types
export function parseResults(source: Source): Type[] | null {
  const types: Type[] = [];
  if (source.scanner.take(OPEN_PAREN)) return parseTypes(source, types) ? types : null;
  const type = parseType(source);
  return type === null ? null : [type];
}

/** Reads `(T1, T2) -> T` from the next token on, and leaves the scanner after it. Null when it is not understood. */
export function parseFunctionType(
  source: Source,
): { readonly arguments: readonly Type[]; readonly results: readonly Type[] } | null {
  const { scanner } = source;
  const types: Type[] = [];
  const isList = scanner.next() === OPEN_PAREN && parseTypes(source, types) && scanner.next() === ARROW;
  const results = isList ? parseResults(source) : null;
  return results === null ? null : { arguments: types, results };
}
