import { skipBalanced, skipBraces, skipMetadata } from './balanced.ts';
import { isBytecode } from './bytecode.ts';
import { CLOSE_BRACE, CLOSE_PAREN, COLON, COMMA, EQUALS, OPEN_BRACE, OPEN_PAREN } from './characters.ts';
import type { Source } from './dictionary.ts';
import { entersQuotedModule, parseQuotedFunction } from './quoted-function.ts';
import { skipRawBody } from './raw-body.ts';
import {
  ARROW,
  ATTRIBUTE_NAME,
  END,
  METADATA_BEGIN,
  type Scanner,
  STRING,
  SYMBOL,
  TYPE_NAME,
  VALUE,
} from './scanner.ts';
import { sourceOf } from './source.ts';
import { parseType } from './type.ts';
import type { PublicFunction, Type } from './types.ts';

/** Stands for a missing or malformed type. */
const NO_TYPE: Type = { kind: 'opaque', text: '' };

/**
 * The public functions with a body, in the order of the text: functions outside of modules, or directly in an outermost
 * module. Functions that are not understood are left out. Bytecode has none. Never throws, and takes time linear in the
 * input.
 */
// ebnf: program
export function functions(input: Uint8Array): PublicFunction[] {
  const found: PublicFunction[] = [];
  if (isBytecode(input)) return found;
  const source = sourceOf(input);
  const { scanner, aliases } = source;
  let inModule = false;
  for (let previous = END, previousStart = 0, previousEnd = 0; ;) {
    const kind = scanner.next();
    const { start, pos } = scanner;
    if (kind === END) return found;
    if (kind === OPEN_BRACE) skipBraces(scanner);
    else if (kind === CLOSE_BRACE) inModule = false;
    else if (kind === METADATA_BEGIN) skipMetadata(scanner);
    else if (kind === ATTRIBUTE_NAME || kind === TYPE_NAME) skipRawBody(scanner);
    else if (kind === EQUALS && previous === TYPE_NAME && !inModule)
      aliases.define(previousStart, previousEnd, pos);
    else if (!inModule && (scanner.is('module') || scanner.is('builtin.module')))
      inModule = entersModule(scanner);
    else if (kind === STRING && !inModule && scanner.is('"builtin.module"'))
      inModule = entersQuotedModule(source);
    else if (kind === STRING && (scanner.is('"func.func"') || scanner.is('"util.func"'))) {
      const quoted = parseQuotedFunction(source);
      if (quoted !== null) found.push(quoted);
    } else if (scanner.is('func.func') || scanner.is('util.func')) {
      const head = readHead(source);
      if (head?.isPublic === true && scanner.take(OPEN_BRACE) && skipBraces(scanner)) {
        const { name, parameters, results } = head;
        found.push({ name, start, end: scanner.pos, arguments: parameters, results });
      }
    }
    previous = kind;
    previousStart = start;
    previousEnd = pos;
  }
}

/** Steps into `module @name attributes {...} {`. False for other text. */
// ebnf: module
function entersModule(scanner: Scanner): boolean {
  scanner.take(SYMBOL);
  skipAttributes(scanner);
  return scanner.take(OPEN_BRACE);
}

// ebnf: function-attributes
function skipAttributes(scanner: Scanner): void {
  const { pos } = scanner;
  scanner.next();
  if (scanner.is('attributes') && scanner.next() === OPEN_BRACE) skipBraces(scanner);
  else scanner.pos = pos;
}

/** A function up to its body. */
interface Head {
  readonly name: string;
  readonly isPublic: boolean;
  readonly parameters: readonly Type[];
  readonly results: readonly Type[];
}

/** Reads on after `func.func`. Null when the text is not understood. */
// ebnf: function-head
function readHead(source: Source): Head | null {
  const { scanner, text } = source;
  scanner.next();
  const isPublic = !scanner.is('private') && !scanner.is('nested');
  if (!isPublic || scanner.is('public')) scanner.next();
  if (!scanner.at(SYMBOL)) return null;
  const name = text.symbol(scanner.start, scanner.pos);
  if (!scanner.take(OPEN_PAREN)) return null;
  const parameters = readList(source);
  if (parameters === null) return null;
  let results: readonly Type[] | null = [];
  if (scanner.take(ARROW))
    results = scanner.take(OPEN_PAREN) ? readList(source) : [parseType(source) ?? NO_TYPE];
  if (results === null) return null;
  skipAttributes(scanner);
  return { name, isPublic, parameters, results };
}

/** The types of `%a: T {attributes} loc(...), ...)` or `T, ...)`, after the `(`. Null without a `)`. */
// ebnf: signature-list
function readList(source: Source): Type[] | null {
  const { scanner } = source;
  const types: Type[] = [];
  if (scanner.take(CLOSE_PAREN)) return types;
  do {
    if (scanner.take(VALUE)) {
      const { pos } = scanner;
      // `%a as T` is a result that overwrites the argument `%a`.
      if (scanner.next() !== COLON && !scanner.is('as')) scanner.pos = pos;
    }
    const { pos } = scanner;
    const type = parseType(source);
    if (type === null) scanner.pos = pos;
    types.push(type ?? NO_TYPE);
    if (skipBalanced(scanner, COMMA) < 0) return null;
  } while (scanner.take(COMMA));
  return scanner.take(CLOSE_PAREN) ? types : null;
}
