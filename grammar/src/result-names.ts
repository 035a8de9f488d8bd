import { COLON, COMMA } from './characters.ts';
import type { Source } from './dictionary.ts';
import { NUMBER, VALUE } from './scanner.ts';

/** No number of results needs more digits. */
const MOST_DIGITS = 6;

/**
 * The values that `%a, %b:2`, which is [start, end), defines: `%a`, `%b#0`, `%b#1`. Empty when they are more than `most`.
 * Leaves the scanner as it is.
 */
export function readResultNames(
  { scanner, text }: Source,
  start: number,
  end: number,
  most: number,
): string[] {
  const { pos, start: tokenStart, kind } = scanner;
  const names: string[] = [];
  scanner.pos = start;
  while (scanner.next() === VALUE && names.length <= most) {
    const name = text.slice(scanner.start, scanner.pos);
    let count = 1;
    if (scanner.next() === COLON) {
      const isCount = scanner.next() === NUMBER && scanner.pos - scanner.start <= MOST_DIGITS;
      count = isCount ? Number(text.slice(scanner.start, scanner.pos)) : Infinity;
      scanner.next();
    }
    // Of no more than fit anyway.
    for (let index = 0; index < count && names.length <= most; index++)
      names.push(count === 1 ? name : `${name}#${index}`);
    if (scanner.start >= end || !scanner.at(COMMA)) break;
  }
  scanner.pos = pos;
  scanner.start = tokenStart;
  scanner.kind = kind;
  return names.length > most ? [] : names;
}
