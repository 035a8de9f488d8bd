import { skipElement, skipGroup } from './balanced.ts';
import { isBytecode } from './bytecode.ts';
import {
  CLOSE_ANGLE,
  CLOSE_BRACE,
  COLON,
  COMMA,
  EQUALS,
  HASH,
  MINUS,
  OPEN_ANGLE,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
} from './characters.ts';
import type { Source } from './dictionary.ts';
import { ATTRIBUTE_NAME, BROKEN_STRING, END, IDENTIFIER, STRING } from './scanner.ts';
import { sourceOf, walk } from './source.ts';
import { skipType } from './type.ts';
import type { DialectAttribute } from './types.ts';

/**
 * Every `#dialect.name<...>` of one name, in the order of the text. An attribute inside another attribute of that name is
 * part of the outer text. Malformed attributes are left out. Bytecode has none. Never throws, and takes time linear in the
 * input.
 * @param name with its `#`, such as `#hal.executable.target`
 */
export function dialectAttributes(input: Uint8Array, name: string): DialectAttribute[] {
  const found: DialectAttribute[] = [];
  if (isBytecode(input)) return found;
  const source = sourceOf(input);
  const { scanner } = source;
  const starts: number[] = [];
  // An alias may be defined after its uses, so the attributes are read after all definitions.
  walk(source, (kind) => {
    if (kind === ATTRIBUTE_NAME && scanner.is(name)) starts.push(scanner.start);
  });
  scanner.pos = 0;
  const aliasTexts = new Map<string, string>();
  for (const start of starts) {
    if (start < scanner.pos) continue;
    scanner.pos = start + name.length;
    const reader: Reader = { source, aliasTexts, values: [], entries: new Map() };
    if (scanner.next() !== OPEN_ANGLE || !readItems(reader, CLOSE_ANGLE)) continue;
    found.push({ start, end: scanner.pos, values: reader.values, entries: reader.entries });
  }
  return found;
}

/** The state of reading one attribute. */
interface Reader {
  readonly source: Source;
  /** The text of each alias, read once. */
  readonly aliasTexts: Map<string, string>;
  readonly values: string[];
  readonly entries: Map<string, string>;
}

/** Reads values and `name = value` up to `close`, also in braces. False for malformed text. */
// ebnf: dialect-attribute
function readItems(reader: Reader, close: number): boolean {
  const { source, values, entries } = reader;
  const { scanner, text } = source;
  const inBraces = close === CLOSE_BRACE;
  for (let isFirst = true; ; isFirst = false) {
    const from = scanner.pos;
    const kind = scanner.next();
    const { start, pos } = scanner;
    if (kind === close && isFirst) return true;
    if (kind === OPEN_BRACE && !inBraces) {
      if (!readItems(reader, CLOSE_BRACE)) return false;
    } else {
      const isName = kind === IDENTIFIER || kind === STRING;
      const hasValue = scanner.next() === EQUALS;
      if (isName && (hasValue || inBraces)) {
        const name = kind === STRING ? text.unquote(start, pos) : text.slice(start, pos);
        if (!hasValue) scanner.pos = pos;
        const value = hasValue ? readValue(reader) : 'unit';
        if (value === null) return false;
        entries.set(name, value);
      } else {
        scanner.pos = from;
        const value = readValue(reader);
        if (value === null || inBraces) return false;
        values.push(value);
      }
    }
    if (scanner.next() === close) return true;
    if (!scanner.at(COMMA)) return false;
  }
}

/** The text of a value in a list, with an alias resolved. Null for malformed text. */
function readValue({ source, aliasTexts }: Reader): string | null {
  const { scanner, text, aliases } = source;
  const start = scanner.skipTrivia(scanner.pos);
  const end = skipElement(scanner);
  if (end < 0) return null;
  const value = text.slice(start, end);
  if (scanner.bytes[start] !== HASH || scanner.hasDot(start, end)) return value;
  let aliased = aliasTexts.get(value);
  if (aliased === undefined) {
    aliased = aliases.read(value, () => readAlone(source)) ?? value;
    aliasTexts.set(value, aliased);
  }
  return aliased;
}

/**
 * The text of a value outside of a list, from the next token on: a word, a number, a string or a group, with an optional
 * type. A group may follow a word. Null for malformed text.
 */
function readAlone({ scanner, text }: Source): string | null {
  const first = scanner.next();
  const { start } = scanner;
  const kind = first === MINUS ? scanner.next() : first;
  if (kind === END || kind === BROKEN_STRING) return null;
  let end = scanner.pos;
  if (kind === OPEN_BRACE || kind === OPEN_BRACKET) end = skipGroup(scanner);
  else if (kind === IDENTIFIER || kind === ATTRIBUTE_NAME) {
    const after = scanner.next();
    if (after === OPEN_ANGLE || after === OPEN_PAREN) end = skipGroup(scanner);
  }
  if (end < 0) return null;
  scanner.pos = end;
  if (scanner.next() === COLON) end = skipType(scanner);
  return end < 0 ? null : text.slice(start, end);
}
