import { NEWLINE } from './characters.ts';
import { find } from './find.ts';

/** A place in the text as MLIR's diagnostics give it: both count from 1, columns in bytes. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/**
 * The line and column of a byte offset, which may be the end of the input.
 * Throws a RangeError when the offset is outside of the input.
 */
export function locate(input: Uint8Array, offset: number): Location {
  if (!Number.isInteger(offset) || offset < 0 || offset > input.length) {
    throw new RangeError(`offset ${offset} is outside of the input of ${input.length} bytes`);
  }
  let line = 1;
  let lineStart = 0;
  for (let next; (next = find(input, NEWLINE, lineStart, offset)) < offset; lineStart = next + 1) line++;
  return { line, column: offset - lineStart + 1 };
}
