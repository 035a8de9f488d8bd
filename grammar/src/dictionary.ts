import { parseAffineMap } from './affine-map.ts';
import type { Aliases } from './aliases.ts';
import { skipElement } from './balanced.ts';
import {
  CLOSE_ANGLE,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  EQUALS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_BRACKET,
} from './characters.ts';
import { ATTRIBUTE_NAME, IDENTIFIER, NUMBER, type Scanner, STRING } from './scanner.ts';
import type { Text } from './text.ts';
import type { TypeCache } from './type-cache.ts';
import type { AffineMap, Attribute, IteratorType } from './types.ts';

/** No contraction has more dimensions. */
const MOST_ITERATORS = 32;

/** No operation has more kinds of operands. */
const MOST_SEGMENTS = 8;

/** The input of every reader of syntax. */
export interface Source {
  readonly scanner: Scanner;
  readonly text: Text;
  readonly aliases: Aliases;
  readonly types: TypeCache;
}

/** The names in `{...}`, and the few values that define the operation's computation. */
export interface Dictionary {
  readonly attributes: Attribute[];
  indexingMaps: readonly AffineMap[] | null;
  iteratorTypes: readonly IteratorType[] | null;
  /** Number of inputs, then of outputs. */
  segments: readonly number[] | null;
  /** Whether there is `cast = #linalg.type_fn<cast_unsigned>`. */
  unsigned: boolean;
  /** `onnx.MatMul` of `name = "onnx.MatMul"`: the operation that a `torch.operator` stands for. */
  operator: string | null;
}

export function emptyDictionary(): Dictionary {
  return {
    attributes: [],
    indexingMaps: null,
    iteratorTypes: null,
    segments: null,
    unsigned: false,
    operator: null,
  };
}

/**
 * Reads `{...}` into `into`, with its `{` as the current token, and leaves the scanner after the `}`.
 * Null when the text is malformed.
 */
// ebnf: dictionary
export function parseDictionary(source: Source, into: Dictionary = emptyDictionary()): Dictionary | null {
  const { scanner, text } = source;
  if (scanner.kind !== OPEN_BRACE) return null;
  if (scanner.next() === CLOSE_BRACE) return into;
  for (;;) {
    const { start } = scanner;
    if (!scanner.at(IDENTIFIER) && !scanner.at(STRING)) return null;
    const name = scanner.at(STRING) ? text.unquote(start, scanner.pos) : text.slice(start, scanner.pos);
    let end = scanner.pos;
    if (scanner.next() === EQUALS) {
      const from = scanner.pos;
      if (readInherent(source, name, into)) {
        end = scanner.pos;
      } else {
        scanner.pos = from;
        end = skipElement(scanner);
        if (end < 0) return null;
      }
      scanner.next();
    }
    into.attributes.push({ name, start, end });
    if (scanner.at(CLOSE_BRACE)) return into;
    if (!scanner.at(COMMA)) return null;
    scanner.next();
  }
}

/** Reads `<{...}>` into `into`, with its `<` as the current token. True when its `>` is the current token. */
export function parseProperties(source: Source, into: Dictionary): boolean {
  source.scanner.next();
  return parseDictionary(source, into) !== null && source.scanner.next() === CLOSE_ANGLE;
}

/** Reads the value of a name that defines the operation's computation. False: the caller steps over the value. */
// ebnf: attribute
function readInherent(source: Source, name: string, into: Dictionary): boolean {
  const { scanner, text } = source;
  switch (name) {
    case 'indexing_maps':
      into.indexingMaps = parseMaps(source);
      return into.indexingMaps !== null;
    case 'iterator_types':
      into.iteratorTypes = parseIteratorTypes(source);
      return into.iteratorTypes !== null;
    case 'operandSegmentSizes':
    case 'operand_segment_sizes':
      into.segments = parseSegments(source);
      return false;
    case 'cast':
      into.unsigned = parseCast(source);
      return false;
    case 'name':
      if (scanner.next() === STRING) into.operator = text.unquote(scanner.start, scanner.pos);
      return false;
    default:
      return false;
  }
}

/** Whether the value is `#linalg.type_fn<cast_unsigned>` or an alias of that. */
// ebnf: cast
function parseCast(source: Source): boolean {
  const { scanner, text, aliases } = source;
  if (scanner.next() !== ATTRIBUTE_NAME) return false;
  if (!scanner.is('#linalg.type_fn')) {
    return aliases.read(text.slice(scanner.start, scanner.pos), () => parseCast(source)) ?? false;
  }
  return scanner.next() === OPEN_ANGLE && scanner.next() === IDENTIFIER && scanner.is('cast_unsigned');
}

/** Reads `[affine_map<...>, #map, ...]`, or an alias of such a list, from the next token on. Null for other text. */
// ebnf: map-list
export function parseMaps(source: Source): readonly AffineMap[] | null {
  const { scanner, text, aliases } = source;
  const kind = scanner.next();
  if (kind === ATTRIBUTE_NAME) return aliases.maps(text.slice(scanner.start, scanner.pos));
  if (kind !== OPEN_BRACKET) return null;
  const maps: AffineMap[] = [];
  for (;;) {
    const element = scanner.next();
    if (element === CLOSE_BRACKET && maps.length === 0) return maps;
    const map =
      element === ATTRIBUTE_NAME
        ? aliases.map(text.slice(scanner.start, scanner.pos))
        : parseAffineMap(scanner);
    if (map === null) return null;
    maps.push(map);
    const after = scanner.next();
    if (after === CLOSE_BRACKET) return maps;
    if (after !== COMMA) return null;
  }
}

/** Reads `["parallel", ...]` or `[#linalg.iterator_type<parallel>, ...]`, or an alias of such a list. */
// ebnf: iterator-list
function parseIteratorTypes(source: Source): readonly IteratorType[] | null {
  const { scanner, text, aliases } = source;
  const kind = scanner.next();
  if (kind === ATTRIBUTE_NAME) {
    return aliases.read(text.slice(scanner.start, scanner.pos), () => parseIteratorTypes(source));
  }
  if (kind !== OPEN_BRACKET) return null;
  const types: IteratorType[] = [];
  for (;;) {
    if (scanner.next() === CLOSE_BRACKET && types.length === 0) return types;
    const type = parseIteratorType(scanner);
    if (type === null) return null;
    types.push(type);
    const after = scanner.next();
    if (after === CLOSE_BRACKET) return types;
    if (after !== COMMA || types.length > MOST_ITERATORS) return null;
  }
}

// ebnf: iterator
function parseIteratorType(scanner: Scanner): IteratorType | null {
  if (scanner.at(STRING)) return wordOf(scanner, QUOTED_ITERATORS);
  if (!scanner.is('#linalg.iterator_type') || scanner.next() !== OPEN_ANGLE) return null;
  scanner.next();
  const type = wordOf(scanner, ITERATORS);
  return scanner.next() === CLOSE_ANGLE ? type : null;
}

/** The iterator type whose spelling in `words` is the current token. */
function wordOf(scanner: Scanner, words: readonly string[]): IteratorType | null {
  for (let index = 0; index < words.length; index++) {
    if (scanner.is(words[index]!)) return ITERATORS[index]!;
  }
  return null;
}

/** Reads `array<i32: 2, 1>` or the older `dense<[2, 1]> : vector<2xi32>`. */
// ebnf: segments
function parseSegments({ scanner, text }: Source): readonly number[] {
  const sizes: number[] = [];
  // At most four tokens come before the numbers: `array < i32 :`.
  for (let step = 0; step < 5; step++) {
    if (scanner.next() === NUMBER) break;
  }
  while (scanner.at(NUMBER) && sizes.length < MOST_SEGMENTS) {
    sizes.push(Number(text.slice(scanner.start, scanner.pos)));
    if (scanner.next() !== COMMA) break;
    scanner.next();
  }
  return sizes;
}

const ITERATORS = ['parallel', 'reduction', 'window'] as const;
const QUOTED_ITERATORS = ITERATORS.map((type) => `"${type}"`);
