import { NEWLINE } from './characters.ts';
import { find } from './find.ts';

/** A place in the text as MLIR's diagnostics count: lines and columns from 1, columns in bytes. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** Bytes in each block of an index. */
const BLOCK = 2 ** 16;

/** Lines and columns of many places in one input. */
export interface LineIndex {
  /**
   * The line and column of a byte offset. The end of the input is a valid offset.
   * @throws RangeError if the offset is outside of the input
   */
  locate(offset: number): Location;
  /** The byte offset of a line and column, -1 without one. The end of a line is a valid column. */
  offsetOf(line: number, column: number): number;
}

/**
 * Indexes the input lazily: each byte is read once, and only up to the farthest question. Then each answer takes constant
 * time. Keeps two numbers for each 64 KiB.
 */
export function lineIndex(input: Uint8Array): LineIndex {
  /** For each block, the line at its start and the byte offset of that line. */
  const lines = [1];
  const lineStarts = [0];

  function step(line: number, lineStart: number, from: number, to: number): [number, number] {
    for (let next = from; (next = find(input, NEWLINE, next, to)) < to; lineStart = ++next) line++;
    return [line, lineStart];
  }

  /** Indexes one more block. False at the end of the input. */
  function extend(): boolean {
    const last = lines.length - 1;
    if ((last + 1) * BLOCK > input.length) return false;
    const [line, start] = step(lines[last]!, lineStarts[last]!, last * BLOCK, (last + 1) * BLOCK);
    lines.push(line);
    lineStarts.push(start);
    return true;
  }

  return {
    locate(offset) {
      if (!Number.isInteger(offset) || offset < 0 || offset > input.length) {
        throw new RangeError(`offset ${offset} is outside of the input of ${input.length} bytes`);
      }
      const block = Math.floor(offset / BLOCK);
      while (lines.length <= block) extend();
      const [line, lineStart] = step(lines[block]!, lineStarts[block]!, block * BLOCK, offset);
      return { line, column: offset - lineStart + 1 };
    },

    offsetOf(line, column) {
      if (!Number.isInteger(line) || !Number.isInteger(column) || line < 1 || column < 1) return -1;
      while (lines.at(-1)! < line && extend());
      // The last block that starts before the line.
      let [block, end] = [0, lines.length];
      while (end - block > 1) {
        const middle = (block + end) >> 1;
        if (lines[middle]! < line) block = middle;
        else end = middle;
      }
      let start = line === 1 ? 0 : block * BLOCK;
      for (let passed = lines[block]!; passed < line; passed++) {
        start = find(input, NEWLINE, start, input.length) + 1;
        if (start > input.length) return -1;
      }
      const offset = start + column - 1;
      return offset <= find(input, NEWLINE, start, input.length) ? offset : -1;
    },
  };
}

/** The line and column of one byte offset. Use a {@link lineIndex} for many offsets. @throws RangeError likewise */
export function locate(input: Uint8Array, offset: number): Location {
  return lineIndex(input).locate(offset);
}
