import type { LineIndex, Location } from './locate.ts';
import type { Insertion, Operation } from './types.ts';

/**
 * The edit that adds a discardable attribute to an operation. The caller checks `operation.attributes` for the same name.
 * @param attribute `name = value` in MLIR syntax
 */
export function insertionFor(operation: Operation, attribute: string): Insertion {
  const { offset, before, after } = operation.insertion;
  return { offset, text: before + attribute + after };
}

/**
 * The input with all insertions, in slices that are not empty. Slices of the input share its memory; insertions are
 * encoded as UTF-8. Insertions at one offset keep their order.
 * @throws RangeError before the first slice, if the insertions are not sorted by offset or one is outside of the input
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

/** The slices of {@link insertionSlices} as one array. @throws RangeError likewise */
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
 * The offset in the input of the byte at `position` in the edited text. A byte of an insertion has the insertion's offset.
 * @param insertions sorted by offset, as for {@link applyInsertions}
 * @throws RangeError if the position is not an offset
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
 * Translates lines and columns in the edited text, as diagnostics give them, to lines and columns in the input. Reads the
 * input once, up to the last insertion. Each answer takes about as long as an answer of the index.
 * @param lines index of the input
 * @param insertions sorted by offset, as for {@link applyInsertions}
 * @returns a function that throws a RangeError if the edited text has no such line or column
 */
export function originalPositions(
  lines: LineIndex,
  insertions: readonly Insertion[],
): (line: number, column: number) => Location {
  const pieces = piecesOf(lines, insertions);
  return (line, column) => {
    const piece = pieces[lastPieceBefore(pieces, line, column)];
    if (piece !== undefined && Number.isInteger(line) && Number.isInteger(column)) {
      const { edited, original, lineLengths } = piece;
      if (lineLengths === null) {
        const place = moved({ line, column }, edited, original);
        if (lines.offsetOf(place.line, place.column) >= 0) return place;
      } else {
        const before = line === edited.line ? edited.column : 1;
        if (column - before <= lineLengths[line - edited.line]!) return original;
      }
    }
    throw new RangeError(`the edited text has no line ${line} with a column ${column}`);
  };
}

/** An insertion, or the input between two insertions. */
interface Piece {
  /** Start of the piece in the edited text and in the input. */
  readonly edited: Location;
  readonly original: Location;
  /** Bytes in each line of an insertion; null for the input. */
  readonly lineLengths: readonly number[] | null;
}

function piecesOf(lines: LineIndex, insertions: readonly Insertion[]): Piece[] {
  const encoder = new TextEncoder();
  let input: Piece = { edited: START, original: START, lineLengths: null };
  const pieces = [input];
  for (const { offset, text } of insertions) {
    const original = lines.locate(offset);
    const edited = moved(original, input.original, input.edited);
    const lineLengths = text.split('\n').map((line) => encoder.encode(line).length);
    const newlines = lineLengths.length - 1;
    const column = lineLengths[newlines]! + (newlines === 0 ? edited.column : 1);
    input = { edited: { line: edited.line + newlines, column }, original, lineLengths: null };
    pieces.push({ edited, original, lineLengths }, input);
  }
  return pieces;
}

const START: Location = { line: 1, column: 1 };

/** The place at the same distance behind `to` as `place` is behind `from`. */
function moved(place: Location, from: Location, to: Location): Location {
  const column = place.line === from.line ? place.column - from.column + to.column : place.column;
  return { line: place.line - from.line + to.line, column };
}

/** Index of the last piece that starts at or before a line and column; -1 without one. */
function lastPieceBefore(pieces: readonly Piece[], line: number, column: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { edited } = pieces[middle]!;
    if (edited.line < line || (edited.line === line && edited.column <= column)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
