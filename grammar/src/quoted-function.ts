import { skipGroup } from './balanced.ts';
import {
  CLOSE_ANGLE,
  CLOSE_BRACE,
  CLOSE_PAREN,
  EQUALS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_PAREN,
} from './characters.ts';
import { type Dictionary, emptyDictionary, parseDictionary, type Source } from './dictionary.ts';
import { parseResults, parseTypes } from './operation.ts';
import { ARROW, STRING } from './scanner.ts';
import type { Attribute, PublicFunction, Type } from './types.ts';

/**
 * Reads `"func.func"() <{function_type = (T) -> T, sym_name = "f"}> ({...}) {...}`, the name being current; the dictionary
 * may also come last. Null, with the scanner somewhere behind the name, unless it is public and has a body.
 */
// ebnf: quoted-function
export function parseQuotedFunction(source: Source): PublicFunction | null {
  const { scanner } = source;
  const { start } = scanner;
  const dictionary = emptyDictionary();
  if (!parseHead(source, dictionary)) return null;
  const region = scanner.pos;
  const isEmpty = scanner.next() !== OPEN_BRACE || scanner.next() === CLOSE_BRACE;
  scanner.pos = region;
  scanner.start = region - 1;
  scanner.kind = OPEN_PAREN;
  const end = skipGroup(scanner);
  if (isEmpty || end < 0) return null;
  if (scanner.next() === OPEN_BRACE) parseDictionary(source, dictionary);
  else scanner.pos = end;
  const after = scanner.pos;
  const named = (name: string) => dictionary.attributes.find((attribute) => attribute.name === name);
  const [symbol, type] = [named('sym_name'), named('function_type')];
  const visibility = stringAt(source, named('sym_visibility'));
  const isPublic = visibility === undefined || visibility === 'public';
  const name = stringAt(source, symbol);
  const types = type === undefined ? null : functionTypeAt(source, type);
  scanner.pos = after;
  return typeof name !== 'string' || types === null || !isPublic ? null : { name, start, end, ...types };
}

/** Steps into `"builtin.module"() <{...}> ({`, the name being current; false when it is not that. */
// ebnf: quoted-module
export function entersQuotedModule(source: Source): boolean {
  const { scanner } = source;
  if (!parseHead(source, emptyDictionary())) return false;
  const { pos } = scanner;
  if (scanner.next() === OPEN_BRACE) return true;
  scanner.pos = pos;
  return false;
}

/** Reads `() <{...}> (` after the name; otherwise the first other token is still to be read. */
function parseHead(source: Source, dictionary: Dictionary): boolean {
  const { scanner } = source;
  let isHead = scanner.next() === OPEN_PAREN && scanner.next() === CLOSE_PAREN;
  if (isHead && scanner.next() === OPEN_ANGLE) {
    scanner.next();
    isHead = parseDictionary(source, dictionary) !== null && scanner.next() === CLOSE_ANGLE;
    if (isHead) scanner.next();
  }
  if (isHead && scanner.at(OPEN_PAREN)) return true;
  scanner.pos = scanner.start;
  return false;
}

/** Goes to the value of `name = value`. */
function goToValue({ scanner }: Source, { start }: Attribute): boolean {
  scanner.pos = start;
  scanner.next();
  return scanner.next() === EQUALS;
}

/** Null when something else is there. */
function stringAt(source: Source, attribute: Attribute | undefined): string | null | undefined {
  if (attribute === undefined || !goToValue(source, attribute)) return undefined;
  const { scanner, text } = source;
  return scanner.next() === STRING ? text.unquote(scanner.start, scanner.pos) : null;
}

function functionTypeAt(
  source: Source,
  attribute: Attribute,
): { readonly arguments: readonly Type[]; readonly results: readonly Type[] } | null {
  const { scanner } = source;
  const types: Type[] = [];
  if (!goToValue(source, attribute) || scanner.next() !== OPEN_PAREN || !parseTypes(source, types))
    return null;
  const results = scanner.next() === ARROW ? parseResults(source) : null;
  return results === null ? null : { arguments: types, results };
}
