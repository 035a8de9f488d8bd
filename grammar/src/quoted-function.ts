import { skipGroup } from './balanced.ts';
import { CLOSE_BRACE, CLOSE_PAREN, EQUALS, OPEN_ANGLE, OPEN_BRACE, OPEN_PAREN } from './characters.ts';
import {
  type Dictionary,
  emptyDictionary,
  parseDictionary,
  parseProperties,
  type Source,
} from './dictionary.ts';
import { parseFunctionType } from './operation.ts';
import { STRING } from './scanner.ts';
import type { Attribute, PublicFunction } from './types.ts';

/**
 * Reads `"func.func"() <{function_type = (T) -> T, sym_name = "f"}> ({...}) {...}`, with its name as the current token.
 * The properties may also be in the last dictionary. Null, with the scanner somewhere behind the name, for a private
 * function or a declaration.
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
  if (scanner.take(OPEN_BRACE)) parseDictionary(source, dictionary);
  const after = scanner.pos;
  const named = (name: string) => dictionary.attributes.find((attribute) => attribute.name === name);
  const [symbol, type] = [named('sym_name'), named('function_type')];
  const visibility = stringAt(source, named('sym_visibility'));
  const isPublic = visibility === undefined || visibility === 'public';
  const name = stringAt(source, symbol);
  const types = type !== undefined && goToValue(source, type) ? parseFunctionType(source) : null;
  scanner.pos = after;
  return typeof name !== 'string' || types === null || !isPublic ? null : { name, start, end, ...types };
}

/** Steps into `"builtin.module"() <{...}> ({`, with its name as the current token. False for other text. */
// ebnf: quoted-module
export function entersQuotedModule(source: Source): boolean {
  return parseHead(source, emptyDictionary()) && source.scanner.take(OPEN_BRACE);
}

/** Reads `() <{...}> (` after the name. On false, the first unexpected token is the next token. */
function parseHead(source: Source, dictionary: Dictionary): boolean {
  const { scanner } = source;
  let isHead = scanner.next() === OPEN_PAREN && scanner.next() === CLOSE_PAREN;
  if (isHead && scanner.next() === OPEN_ANGLE) {
    isHead = parseProperties(source, dictionary);
    if (isHead) scanner.next();
  }
  if (isHead && scanner.at(OPEN_PAREN)) return true;
  scanner.pos = scanner.start;
  return false;
}

/** Goes to the value of `name = value`. False for a lone name. */
function goToValue({ scanner }: Source, { start }: Attribute): boolean {
  scanner.pos = start;
  scanner.next();
  return scanner.next() === EQUALS;
}

/** The string that is the value; null for another value, undefined without a value. */
function stringAt(source: Source, attribute: Attribute | undefined): string | null | undefined {
  if (attribute === undefined || !goToValue(source, attribute)) return undefined;
  const { scanner, text } = source;
  return scanner.next() === STRING ? text.unquote(scanner.start, scanner.pos) : null;
}
