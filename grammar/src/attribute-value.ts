import { skipElement } from './balanced.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, EQUALS, OPEN_BRACE, OPEN_BRACKET } from './characters.ts';
import { IDENTIFIER, Scanner, STRING } from './scanner.ts';
import { Text } from './text.ts';
import type { Attribute } from './types.ts';

/** The value of an attribute. A value of any other kind is `opaque`, with its text. Aliases are not followed. */
export type AttributeValue =
  | { readonly kind: 'unit' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** The type is null if the text gives none. */
  | { readonly kind: 'integer'; readonly value: bigint; readonly type: string | null }
  | { readonly kind: 'float'; readonly value: number; readonly type: string | null }
  | { readonly kind: 'string'; readonly value: string }
  /** `[...]` or `array<i64: ...>`. Elements of the latter have its type. */
  | { readonly kind: 'array'; readonly values: readonly AttributeValue[] }
  | { readonly kind: 'dictionary'; readonly entries: ReadonlyMap<string, AttributeValue> }
  | { readonly kind: 'opaque'; readonly text: string };

/** Deeper lists and dictionaries are opaque: the text must not decide the depth of the recursion. */
const DEEPEST = 32;

/** In bytes. No number is longer. */
const LONGEST_NUMBER = 256;

const UNIT: AttributeValue = { kind: 'unit' };

/** The value of an attribute that was found in the input; `unit` for a lone name. Never throws. */
export function attributeValue(
  input: Uint8Array,
  { start, end }: Pick<Attribute, 'start' | 'end'>,
): AttributeValue {
  const scanner = new Scanner(input, start, end);
  scanner.next();
  if (scanner.next() !== EQUALS) return UNIT;
  return new Reader(scanner, new Text(input)).read(end, DEEPEST);
}

class Reader {
  private readonly scanner: Scanner;
  private readonly text: Text;

  constructor(scanner: Scanner, text: Text) {
    this.scanner = scanner;
    this.text = text;
  }

  /** Reads the value from the next token to `end`. */
  read(end: number, depth: number): AttributeValue {
    const { scanner, text } = this;
    const start = scanner.skipTrivia(scanner.pos);
    const value = depth === 0 ? null : this.readKnown(start, end, depth);
    scanner.pos = end;
    return value ?? { kind: 'opaque', text: text.slice(start, end) };
  }

  private readKnown(start: number, end: number, depth: number): AttributeValue | null {
    const { scanner, text } = this;
    const kind = scanner.next();
    if (kind === STRING) {
      return scanner.pos === end ? { kind: 'string', value: text.unquote(start, end) } : null;
    }
    if (kind === OPEN_BRACKET) {
      const values: AttributeValue[] = [];
      const isList = this.readItems(end, CLOSE_BRACKET, () => values.push(this.readItem(depth)) > 0);
      return isList ? { kind: 'array', values } : null;
    }
    if (kind === OPEN_BRACE) {
      const entries = new Map<string, AttributeValue>();
      const isDictionary = this.readItems(end, CLOSE_BRACE, () => {
        if (scanner.next() !== IDENTIFIER && !scanner.at(STRING)) return false;
        const { start: from, pos } = scanner;
        const name = scanner.at(STRING) ? text.unquote(from, pos) : text.slice(from, pos);
        entries.set(name, scanner.take(EQUALS) ? this.readItem(depth) : UNIT);
        return true;
      });
      return isDictionary ? { kind: 'dictionary', entries } : null;
    }
    return end - start > LONGEST_NUMBER && !scanner.is('array') ? null : plainValue(text.slice(start, end));
  }

  /** Reads items between commas up to `close`. True if `close` ends the value. */
  private readItems(end: number, close: number, readItem: () => boolean): boolean {
    const { scanner } = this;
    if (!scanner.take(close)) {
      do {
        if (!readItem()) return false;
      } while (scanner.next() === COMMA);
    }
    return scanner.at(close) && scanner.pos === end;
  }

  private readItem(depth: number): AttributeValue {
    const { scanner } = this;
    const { pos } = scanner;
    const end = skipElement(scanner);
    if (end < 0) return UNIT;
    scanner.pos = pos;
    return this.read(end, depth - 1);
  }
}

const INTEGER = /^(-?)\s*(\d+|0x[\da-fA-F]+)(?:\s*:\s*([^\s/]+))?$/;
const FLOAT = /^(-?\s*\d+\.\d*(?:[eE][-+]?\d+)?)(?:\s*:\s*([^\s/]+))?$/;
const ARRAY = /^array<\s*(\w+)\s*(?::([^<>/"]*))?>$/;

/** The value of a word, a number or an `array<...>`; null for other text. */
function plainValue(text: string): AttributeValue | null {
  if (text === 'unit') return UNIT;
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  const integer = INTEGER.exec(text);
  const type = integer?.[3] ?? null;
  // The hexadecimal digits of a float are its bits.
  if (integer !== null && (type === null || /^(?:index|[su]?i\d+|![\w.]+)$/.test(type))) {
    const value = BigInt(integer[2]!);
    return { kind: 'integer', value: integer[1] === '-' ? -value : value, type };
  }
  const float = FLOAT.exec(text);
  if (float !== null)
    return { kind: 'float', value: Number(float[1]!.replace(/\s/g, '')), type: float[2] ?? null };
  const array = ARRAY.exec(text);
  if (array === null) return null;
  const items = array[2] === undefined ? [] : array[2].split(',').map((item) => item.trim());
  const values = items.map((item) => plainValue(array[1] === 'i1' ? item : `${item} : ${array[1]!}`));
  return values.includes(null) ? null : { kind: 'array', values: values as AttributeValue[] };
}
