// Convolutions in parts that lie one after the other: groups, or blocks of filters.
import type { Value, Writer } from './text.ts';

/**
 * One place of the outermost dimension, without that dimension. It is settled: as a place in a larger value, each would be read by
 * code of its own; like this one dispatch does all of them.
 */
export function partOf(writer: Writer, value: Value, place: number): Value {
  const [, ...inner] = value.shape;
  return writer.settle(
    writer.slice(value, [[place, null, 1], ...inner.map((size) => [0, size, 1] as const)]),
  );
}

/**
 * The results of several convolutions with the channels innermost, one after the other.
 * @param shape of all of them together (parts, n, h, w, f)
 * @param convolve writes one of them, which is added to `none` (n, h, w, f); what it reads is settled before
 */
export function oneByOne(
  writer: Writer,
  shape: readonly number[],
  { elementType }: Value,
  convolve: (part: number, none: Value) => Value,
): Value {
  const [parts, ...ofOne] = shape;
  const none = writer.zeros({ elementType, shape: ofOne });
  let results = writer.empty({ elementType, shape });
  for (let part = 0; part < parts!; part++) results = writer.insert(convolve(part, none), results, 0, part);
  return writer.settle(results);
}

/** Filters of a block: two or more vectors of the widest registers, and full lines of the caches. */
const WIDTHS = [32, 48, 64];

/** Fewer filters lie close enough to each other. */
const LEAST_FILTERS = 128;

/** How many filters a block has; null where they do not make up at most so many blocks. */
export const widthOf = (filters: number, mostBlocks: number): number | null =>
  filters < LEAST_FILTERS
    ? null
    : (WIDTHS.find((width) => filters % width === 0 && filters / width <= mostBlocks) ?? null);

/** A filter (f, c, h, w) as blocks of so many (blocks, h, w, c, width), settled. */
export function inBlocks(writer: Writer, filter: Value, width: number): Value {
  const [filters, ...ofOne] = filter.shape;
  const split = writer.expand(filter, [[0, 1], [2], [3], [4]], [filters! / width, width, ...ofOne]);
  return writer.settle(writer.transpose(split, [0, 3, 4, 2, 1]));
}

/** Results of blocks (blocks, n, h, w, width) as those of all filters (n, f, h, w). */
export const joined = (writer: Writer, results: Value): Value =>
  writer.collapse(writer.transpose(results, [1, 0, 4, 2, 3]), [[0], [1, 2], [3], [4]]);
