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

/** What stands where a type should be and none is. */
const NO_TYPE: Type = { kind: 'opaque', text: '' };

/**
 * The public functions of a program that have a body, in their order: those outside of modules, or directly in the
 * outermost ones. Never throws, whatever the bytes, and takes time linear in their number; a function that is not
 * understood is not there. Bytecode has none.
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
      if (head?.isPublic === true && nextIs(scanner, OPEN_BRACE) && skipBraces(scanner)) {
        const { name, parameters, results } = head;
        found.push({ name, start, end: scanner.pos, arguments: parameters, results });
      }
    }
    previous = kind;
    previousStart = start;
    previousEnd = pos;
  }
}

/** Reads the next token if it is of this kind. */
function nextIs(scanner: Scanner, kind: number): boolean {
  const { pos } = scanner;
  if (scanner.next() === kind) return true;
  scanner.pos = pos;
  return false;
}

/** Steps into `module @name attributes {...} {`; false when it is not that. */
// ebnf: module
function entersModule(scanner: Scanner): boolean {
  nextIs(scanner, SYMBOL);
  skipAttributes(scanner);
  return nextIs(scanner, OPEN_BRACE);
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

/** Reads on after `func.func`; null when it goes on in another way than known. */
// ebnf: function-head
function readHead(source: Source): Head | null {
  const { scanner, text } = source;
  scanner.next();
  const isPublic = !scanner.is('private') && !scanner.is('nested');
  if (!isPublic || scanner.is('public')) scanner.next();
  if (!scanner.at(SYMBOL)) return null;
  const name = text.symbol(scanner.start, scanner.pos);
  if (!nextIs(scanner, OPEN_PAREN)) return null;
  const parameters = readList(source);
  if (parameters === null) return null;
  let results: readonly Type[] | null = [];
  if (nextIs(scanner, ARROW))
    results = nextIs(scanner, OPEN_PAREN) ? readList(source) : [parseType(source) ?? NO_TYPE];
  if (results === null) return null;
  skipAttributes(scanner);
  return { name, isPublic, parameters, results };
}

/** The types of `%a: T {attributes} loc(...), ...)` or `T, ...)`, the `(` being read; null when it is not closed. */
// ebnf: signature-list
function readList(source: Source): Type[] | null {
  const { scanner } = source;
  const types: Type[] = [];
  if (nextIs(scanner, CLOSE_PAREN)) return types;
  do {
    if (nextIs(scanner, VALUE)) {
      const { pos } = scanner;
      // `%a as T` is a result that is an argument overwritten.
      if (scanner.next() !== COLON && !scanner.is('as')) scanner.pos = pos;
    }
    const { pos } = scanner;
    const type = parseType(source);
    if (type === null) scanner.pos = pos;
    types.push(type ?? NO_TYPE);
    if (skipBalanced(scanner, COMMA) < 0) return null;
  } while (nextIs(scanner, COMMA));
  return nextIs(scanner, CLOSE_PAREN) ? types : null;
}
