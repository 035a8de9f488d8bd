import { skipElement } from './balanced.ts';
import {
  CLOSE_ANGLE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COMMA,
  OPEN_ANGLE,
  OPEN_BRACKET,
  OPEN_PAREN,
  PLUS,
  STAR,
} from './characters.ts';
import { ARROW, IDENTIFIER, NUMBER, type Scanner } from './scanner.ts';
import type { AffineMap, StridedResult, Term, WindowResult } from './types.ts';

const ZERO = 0x30;

/** No contraction has more dimensions or results. Bounds the search for each result's dimension. */
const MOST_DIMENSIONS = 32;

/** Reads `affine_map<...>`, with `affine_map` as the current token. Null when it is not understood. */
// ebnf: affine-map
export function parseAffineMap(scanner: Scanner): AffineMap | null {
  if (!scanner.is('affine_map') || scanner.next() !== OPEN_ANGLE || scanner.next() !== OPEN_PAREN)
    return null;

  /** Start and end of each dimension's name. */
  const names: number[] = [];
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
  const windows: WindowResult[] = [];
  for (;;) {
    const before = scanner.pos;
    kind = scanner.next();
    if (kind === CLOSE_PAREN) break;
    const terms = termsAt(scanner, names);
    const [one, other] = terms ?? [];
    if (one === undefined) {
      // Any other expression. It must not count as the dimension that it starts with.
      scanner.pos = before;
      if (skipElement(scanner) < 0) return null;
    }
    kind = one === undefined ? scanner.next() : scanner.kind;
    const result = results.length;
    const isPlain = one !== undefined && other === undefined && one.stride === null;
    results.push(isPlain ? one.dimension : null);
    if (one !== undefined && other !== undefined)
      windows.push({ result, terms: [withStride(one), withStride(other)] });
    else if (one !== undefined && !isPlain) strided.push({ result, ...withStride(one) });
    if (kind === CLOSE_PAREN) break;
    if (kind !== COMMA || results.length > MOST_DIMENSIONS) return null;
  }
  if (scanner.next() !== CLOSE_ANGLE) return null;
  return {
    dimensions: names.length / 2,
    results,
    ...(strided.length > 0 && { strided }),
    ...(windows.length > 0 && { windows }),
  };
}

/** A term of the text. Without a factor, the stride is null. */
interface WrittenTerm {
  readonly dimension: number;
  readonly stride: number | null;
}

const withStride = ({ dimension, stride }: WrittenTerm): Term => ({ dimension, stride: stride ?? 1 });

/** Reads one or two terms from the current token up to the comma or parenthesis behind them. Null for other text. */
// ebnf: map-result
function termsAt(scanner: Scanner, names: readonly number[]): WrittenTerm[] | null {
  const terms: WrittenTerm[] = [];
  for (;;) {
    const dimension = scanner.kind === IDENTIFIER ? dimensionOf(scanner, names) : null;
    if (dimension === null) return null;
    let stride: number | null = null;
    if (scanner.next() === STAR) {
      stride = scanner.next() === NUMBER ? numberAt(scanner) : null;
      if (stride === null) return null;
      scanner.next();
    }
    terms.push({ dimension, stride });
    if (scanner.kind === COMMA || scanner.kind === CLOSE_PAREN) return terms;
    if (scanner.kind !== PLUS || terms.length === 2) return null;
    scanner.next();
  }
}

/** The current token as a positive integer; null for other tokens. */
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
