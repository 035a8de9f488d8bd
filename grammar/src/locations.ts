import { CLOSE_PAREN, COLON, OPEN_PAREN } from './characters.ts';
import type { Source } from './dictionary.ts';
import { ATTRIBUTE_NAME, END, IDENTIFIER, NUMBER, type Scanner, STRING } from './scanner.ts';
import { sourceOf, walk } from './source.ts';
import type { Operation, SourceLocation } from './types.ts';

/** Most tokens that are read of one location: aliases can make a location exponentially long. */
const MOST_TOKENS = 1024;

/**
 * The places in the `loc(...)` after each operation, in the order of the text. `loc("a.mlir":1:2)` has one place; a fused
 * location or a call site has several. Aliases are followed. Unknown locations have no places. Never throws, and takes time
 * linear in the input.
 * @param operations result of `parse` without `splitInputFile`
 * @returns a list for each operation
 */
export function locationsOf(
  input: Uint8Array,
  operations: readonly Pick<Operation, 'end'>[],
): SourceLocation[][] {
  const source = sourceOf(input);
  const { scanner } = source;
  const isLocated = (end: number): boolean => {
    scanner.pos = end;
    return scanner.next() === IDENTIFIER && scanner.is('loc') && scanner.next() === OPEN_PAREN;
  };
  // Bounds the time for unterminated locations, which would each take the rest of the text.
  let budget = 4 * input.length;
  let knowsAliases = false;
  return operations.map(({ end }) => {
    if (budget < 0 || !isLocated(end)) return [];
    const read = readPlaces(source, knowsAliases);
    budget -= read.tokens;
    if (read.places !== null) return read.places;
    // The first alias in a location: read all of the text for definitions. Most texts need no such pass.
    knowsAliases = true;
    scanner.pos = 0;
    walk(source, () => undefined);
    isLocated(end);
    return readPlaces(source, true).places ?? [];
  });
}

/** Reads on after `loc(`. The places are null for a location with an alias, as long as no aliases are known. */
// ebnf: location
function readPlaces(
  { scanner, text, aliases }: Source,
  knowsAliases: boolean,
): { readonly places: SourceLocation[] | null; readonly tokens: number } {
  const places: SourceLocation[] = [];
  const seen = new Set<string>();
  /** Positions to go back to after aliases. */
  const waiting: { readonly pos: number; readonly depth: number }[] = [];
  let tokens = 0;
  for (let depth = 1; tokens < MOST_TOKENS; tokens++) {
    const kind = scanner.next();
    if (kind === OPEN_PAREN) depth++;
    else if (kind === CLOSE_PAREN) depth--;
    else if (kind === STRING) {
      const place = readPlace(scanner, text.unquote(scanner.start, scanner.pos));
      if (place !== null) places.push(place);
    } else if (kind === ATTRIBUTE_NAME && !scanner.hasDot(scanner.start, scanner.pos)) {
      if (!knowsAliases) return { places: null, tokens };
      const name = text.slice(scanner.start, scanner.pos);
      const value = seen.has(name) ? null : aliases.read(name, () => scanner.pos);
      seen.add(name);
      if (value !== null) {
        waiting.push({ pos: scanner.pos, depth });
        scanner.pos = value;
        // Steps into the `loc(` of the alias.
        if (scanner.next() === IDENTIFIER && scanner.next() === OPEN_PAREN) depth = 1;
        else depth = 0;
      }
    } else if (kind === END) break;
    while (depth === 0) {
      const rest = waiting.pop();
      if (rest === undefined) return { places, tokens };
      ({ depth } = rest);
      scanner.pos = rest.pos;
    }
  }
  return { places, tokens };
}

/** Reads `:line:column` after the name of a file. Null for other text. */
// ebnf: place
function readPlace(scanner: Scanner, file: string): SourceLocation | null {
  const { pos } = scanner;
  const line = readNumber(scanner);
  const column = line === null ? null : readNumber(scanner);
  if (line !== null && column !== null) return { file, line, column };
  scanner.pos = pos;
  return null;
}

function readNumber(scanner: Scanner): number | null {
  if (scanner.next() !== COLON || scanner.next() !== NUMBER) return null;
  let value = 0;
  for (let pos = scanner.start; pos < scanner.pos; pos++) {
    const digit = scanner.bytes[pos]! - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value;
}
