import { NEWLINE } from './characters.ts';
import { find } from './find.ts';
import { type Location, locate } from './locate.ts';
import type { Insertion, Operation } from './types.ts';

/**
 * The edit that adds a discardable attribute, given as `name = value` in MLIR syntax, to an operation. Whether the
 * operation has an attribute of that name already is for the caller to look up in `operation.attributes`.
 */
export function insertionFor(operation: Operation, attribute: string): Insertion {
  const { offset, before, after } = operation.insertion;
  return { offset, text: before + attribute + after };
}

/**
 * The input with all insertions made, encoded as UTF-8, as slices in their order: those of the input share its memory,
 * and none is empty. Insertions at one offset keep their order.
 * Throws a RangeError, before the first slice, when they are not sorted by offset or reach outside of the input.
 */
export function insertionSlices(input: Uint8Array, insertions: readonly Insertion[]): Iterable<Uint8Array> {
  let position = 0;
  for (const { offset } of insertions) {
    if (!Number.isInteger(offset) || offset < position || offset > input.length) {
      throw new RangeError(
        `insertion at ${offset} is out of order or outside of the input of ${input.length} bytes`,
      );
    }
    position = offset;
  }
  return slices(input, insertions);
}

function* slices(input: Uint8Array, insertions: readonly Insertion[]): Generator<Uint8Array, void> {
  const encoder = new TextEncoder();
  let from = 0;
  for (const { offset, text } of insertions) {
    if (offset > from) yield input.subarray(from, offset);
    if (text !== '') yield encoder.encode(text);
    from = offset;
  }
  if (from < input.length) yield input.subarray(from);
}

/** The same in one piece. Throws a RangeError likewise. */
export function applyInsertions(input: Uint8Array, insertions: readonly Insertion[]): Uint8Array {
  const pieces = [...insertionSlices(input, insertions)];
  const output = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let to = 0;
  for (const piece of pieces) {
    output.set(piece, to);
    to += piece.length;
  }
  return output;
}

/**
 * The offset in the input that the byte at `position` of the edited text comes from; inside of an insertion, the offset
 * at which that was made. The insertions are sorted, as for {@link applyInsertions}.
 * Throws a RangeError when the position is not an offset.
 */
export function mapBack(insertions: readonly Insertion[], position: number): number {
  if (!Number.isInteger(position) || position < 0) throw new RangeError(`${position} is not an offset`);
  const encoder = new TextEncoder();
  let added = 0;
  for (const { offset, text } of insertions) {
    const start = offset + added;
    if (position < start) break;
    const length = encoder.encode(text).length;
    if (position < start + length) return offset;
    added += length;
  }
  return position - added;
}

/**
 * The line and column in the input for those that a diagnostic about the edited text gives, which count as
 * {@link locate} does. Throws a RangeError when the edited text has no such line or column.
 */
export function originalPosition(
  input: Uint8Array,
  insertions: readonly Insertion[],
  line: number,
  column: number,
): Location {
  const offset = offsetOf(insertionSlices(input, insertions), line, column);
  if (offset < 0) throw new RangeError(`the edited text has no line ${line} with a column ${column}`);
  return locate(input, mapBack(insertions, offset));
}

/** The byte offset of a line and column, which may be the end of the line, in a text in pieces; -1 when there is none. */
function offsetOf(pieces: Iterable<Uint8Array>, line: number, column: number): number {
  if (!Number.isInteger(line) || !Number.isInteger(column) || line < 1 || column < 1) return -1;
  let passed = 1;
  let position = 0;
  let offset = column - 1;
  for (const piece of pieces) {
    const { length } = piece;
    let from = 0;
    for (let newline; passed < line; passed++) {
      newline = find(piece, NEWLINE, from, length);
      if (newline === length) break;
      from = newline + 1;
      offset = position + from + column - 1;
    }
    if (passed === line) {
      const end = find(piece, NEWLINE, from, length);
      if (offset <= position + end) return offset;
      if (end < length) return -1;
    }
    position += length;
  }
  return passed === line && offset <= position ? offset : -1;
}
