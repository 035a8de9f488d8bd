import { COLON, COMMA } from './characters.ts';
import type { Source } from './dictionary.ts';
import { NUMBER, VALUE } from './scanner.ts';

/** No operation has a million results. */
const MOST_DIGITS = 6;

/**
 * The values that the text `%a, %b:2` in [start, end) defines: `%a`, `%b#0`, `%b#1`. Empty for more than `most` values.
 * The scanner stays where it is.
 */
export const readResultNames = (source: Source, start: number, end: number, most: number): string[] =>
  source.scanner.lookAhead(() => read(source, start, end, most));

function read({ scanner, text }: Source, start: number, end: number, most: number): string[] {
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
    for (let index = 0; index < count && names.length <= most; index++)
      names.push(count === 1 ? name : `${name}#${index}`);
    if (scanner.start >= end || !scanner.at(COMMA)) break;
  }
  return names.length > most ? [] : names;
}
