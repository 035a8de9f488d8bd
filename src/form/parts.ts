// Convolutions in parts that lie one after the other: groups, or blocks of filters.
import type { Tensor } from '../workload/tensor.ts';
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
 * Several convolutions with the channels innermost.
 * @param sums type of all results together (n, parts, f, h, w)
 * @param convolve writes one of them, which is added to `none` (n, h, w, f); what it reads is settled before
 */
export function oneByOne(
  writer: Writer,
  sums: Tensor,
  convolve: (part: number, none: Value) => Value,
): Value {
  const [n, parts, f, h, w] = sums.shape as [number, number, number, number, number];
  const none = writer.zeros({ ...sums, shape: [n, h, w, f] });
  let results = writer.empty({ ...sums, shape: [parts, n, h, w, f] });
  for (let part = 0; part < parts; part++) results = writer.insert(convolve(part, none), results, 0, part);
  return channelsFirst(writer, results);
}

/** Results of all parts (parts, n, h, w, f) as (n, parts, f, h, w). */
export const channelsFirst = (writer: Writer, results: Value): Value =>
  writer.transpose(writer.settle(results), [1, 0, 4, 2, 3]);

/** Filters of a block: two or more vectors of the widest registers, and full lines of the caches. */
const WIDTHS = [32, 48, 64];

/** Fewer filters lie close enough to each other. */
const LEAST_FILTERS = 128;

/** How many filters a block has; null where they do not make up at most so many blocks. */
export const widthOf = (filters: number, mostBlocks: number): number | null =>
  filters < LEAST_FILTERS
    ? null
    : (WIDTHS.find((width) => filters % width === 0 && filters / width <= mostBlocks) ?? null);

/** A filter (f, c, h, w) as blocks of so many (blocks, h, w, c, width). */
export function inBlocks(writer: Writer, filter: Value, width: number): Value {
  const [f, ...ofOne] = filter.shape;
  const split = writer.expand(filter, [[0, 1], [2], [3], [4]], [f! / width, width, ...ofOne]);
  return writer.transpose(split, [0, 3, 4, 2, 1]);
}

/** Type of a result (n, f, h, w) whose filters are in blocks. */
export function sumsInBlocks(result: Tensor, width: number): Tensor {
  const [n, f, h, w] = result.shape;
  return { ...result, shape: [n!, f! / width, width, h!, w!] };
}
