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
 * The input with all insertions made, encoded as UTF-8. Insertions at one offset keep their order.
 * Throws a RangeError when they are not sorted by offset or reach outside of the input.
 */
export function applyInsertions(input: Uint8Array, insertions: readonly Insertion[]): Uint8Array {
  const encoder = new TextEncoder();
  let position = 0;
  let length = input.length;
  const texts = insertions.map(({ offset, text }) => {
    if (!Number.isInteger(offset) || offset < position || offset > input.length) {
      throw new RangeError(
        `insertion at ${offset} is out of order or outside of the input of ${input.length} bytes`,
      );
    }
    position = offset;
    const bytes = encoder.encode(text);
    length += bytes.length;
    return { offset, bytes };
  });

  const output = new Uint8Array(length);
  let from = 0;
  let to = 0;
  for (const { offset, bytes } of texts) {
    output.set(input.subarray(from, offset), to);
    to += offset - from;
    output.set(bytes, to);
    to += bytes.length;
    from = offset;
  }
  output.set(input.subarray(from), to);
  return output;
}
