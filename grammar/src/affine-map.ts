import { skipElement } from './balanced.ts';
import {
  CLOSE_ANGLE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  OPEN_ANGLE,
  OPEN_BRACKET,
  OPEN_PAREN,
  STAR,
} from './characters.ts';
import { ARROW, END, IDENTIFIER, NUMBER, type Scanner } from './scanner.ts';
import type { AffineMap, StridedResult } from './types.ts';

const ZERO = 0x30;

/** More dimensions, and more results, than any contraction has; bounds the search for each result's dimension. */
const MOST_DIMENSIONS = 32;

/** Reads `affine_map<...>` when `affine_map` is the current token; null when it is not understood. */
// ebnf: affine-map
export function parseAffineMap(scanner: Scanner): AffineMap | null {
  if (!scanner.is('affine_map') || scanner.next() !== OPEN_ANGLE || scanner.next() !== OPEN_PAREN)
    return null;

  const names: number[] = []; // start and end of each dimension's name
  while (scanner.next() === IDENTIFIER) {
    names.push(scanner.start, scanner.pos);
    if (names.length > 2 * MOST_DIMENSIONS) return null;
    if (scanner.next() !== COMMA) break;
  }
  if (scanner.kind !== CLOSE_PAREN) return null;

  let kind = scanner.next();
  if (kind === OPEN_BRACKET) {
    do kind = scanner.next();
    while (kind === IDENTIFIER || kind === COMMA);
    if (kind !== CLOSE_BRACKET) return null;
    kind = scanner.next();
  }
  if (kind !== ARROW || scanner.next() !== OPEN_PAREN) return null;

  const results: (number | null)[] = [];
  const strided: StridedResult[] = [];
  for (;;) {
    const before = scanner.pos;
    kind = scanner.next();
    if (kind === CLOSE_PAREN) break;
    const dimension = kind === IDENTIFIER ? dimensionOf(scanner, names) : null;
    kind = scanner.next();
    if (kind === STAR && dimension !== null && scanner.next() === NUMBER) {
      const stride = numberAt(scanner);
      kind = scanner.next();
      if (stride !== null && (kind === COMMA || kind === CLOSE_PAREN)) {
        strided.push({ result: results.length, dimension, stride });
        results.push(null);
        if (kind === CLOSE_PAREN) break;
        if (results.length > MOST_DIMENSIONS) return null;
        continue;
      }
      kind = END;
    }
    if (kind === COMMA || kind === CLOSE_PAREN) {
      results.push(dimension);
    } else {
      // An expression; one that has a plain dimension inside must not pass for it.
      scanner.pos = before;
      if (skipElement(scanner) < 0) return null;
      results.push(null);
      kind = scanner.next();
    }
    if (kind === CLOSE_PAREN) break;
    if (kind !== COMMA || results.length > MOST_DIMENSIONS) return null;
  }
  if (scanner.next() !== CLOSE_ANGLE) return null;
  const map = { dimensions: names.length / 2, results };
  return strided.length === 0 ? map : { ...map, strided };
}

/** The positive integer that is the current token; null when it is something else. */
function numberAt({ bytes, start, pos }: Scanner): number | null {
  let value = 0;
  for (let at = start; at < pos; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return null;
    value = 10 * value + digit;
  }
  return value > 0 && Number.isSafeInteger(value) ? value : null;
}

function dimensionOf(scanner: Scanner, names: readonly number[]): number | null {
  const { bytes, start, pos } = scanner;
  search: for (let index = 0; index < names.length; index += 2) {
    const from = names[index]!;
    if (names[index + 1]! - from !== pos - start) continue;
    for (let offset = pos - start - 1; offset >= 0; offset--) {
      if (bytes[from + offset] !== bytes[start + offset]) continue search;
    }
    return index / 2;
  }
  return null;
}
