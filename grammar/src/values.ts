import { COLON, EQUALS, MINUS } from './characters.ts';
import { END, NUMBER, Scanner, STRING } from './scanner.ts';
import { Text } from './text.ts';
import type { Attribute } from './types.ts';

/** In bytes. A JavaScript number holds no longer integer exactly. */
const LONGEST_NUMBER = 32;

/** The integer of an attribute `name = 64` or `name = 64 : i64`; null for other values and beyond the safe integers. */
// ebnf: integer
export function integerOf(input: Uint8Array, { start, end }: Attribute): number | null {
  const scanner = new Scanner(input, start, end);
  scanner.next();
  if (scanner.next() !== EQUALS) return null;
  const sign = scanner.next() === MINUS ? -1 : 1;
  if (sign < 0) scanner.next();
  if (!scanner.at(NUMBER)) return null;
  if (scanner.pos - scanner.start > LONGEST_NUMBER) return null;
  const digits = String.fromCharCode(...input.subarray(scanner.start, scanner.pos));
  const after = scanner.next();
  if (!/^(?:\d+|0x[\da-fA-F]+)$/.test(digits) || (after !== END && after !== COLON)) return null;
  const value = sign * Number(digits);
  return Number.isSafeInteger(value) ? value : null;
}

/** The content of a string literal, escapes resolved; null for other text. */
export function stringOf(literal: string): string | null {
  const bytes = new TextEncoder().encode(literal);
  const scanner = new Scanner(bytes);
  const isAll = scanner.next() === STRING && scanner.start === 0 && scanner.pos === bytes.length;
  return isAll ? new Text(bytes).unquote(0, bytes.length) : null;
}
