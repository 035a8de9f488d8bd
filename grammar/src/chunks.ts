import { SLASH } from './characters.ts';
import { find } from './find.ts';

const SEPARATOR = new TextEncoder().encode('// -----');

/** A part of the input that the compiler reads as a separate file, as byte offsets [start, end). */
export interface Chunk {
  readonly start: number;
  readonly end: number;
}

/**
 * Splits where `--split-input-file` does: at every `// -----` in the bytes, also in a string or in the middle of a line.
 * The compiler splits the text before it reads tokens.
 */
// ebnf: input
export function splitChunks(input: Uint8Array): Chunk[] {
  const chunks: Chunk[] = [];
  let start = 0;
  const { length } = input;
  let slash = find(input, SLASH, 0, length);
  while (slash < length) {
    let next = slash + 1;
    if (isSeparator(input, slash)) {
      chunks.push({ start, end: slash });
      start = next = slash + SEPARATOR.length;
    }
    slash = find(input, SLASH, next, length);
  }
  chunks.push({ start, end: input.length });
  return chunks;
}

function isSeparator(input: Uint8Array, offset: number): boolean {
  for (let index = 0; index < SEPARATOR.length; index++) {
    if (input[offset + index] !== SEPARATOR[index]) return false;
  }
  return true;
}
