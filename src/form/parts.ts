// Layouts of images, and convolutions in contiguous parts: groups, or blocks of filters.
import { isNarrowFloat } from '../workload/element-type.ts';
import { tensorText } from '../workload/tensor.ts';
import type { Value, Writer } from './text.ts';

/** From (n, c, h, w) to (n, h, w, c), and back. */
export const CHANNELS_LAST = [0, 2, 3, 1];
export const CHANNELS_FIRST = [0, 3, 1, 2];

/** Floats of 16 bits in a wider type; other values stay. The compiler makes scalar code of convolutions that widen their factors. */
export function widened(writer: Writer, value: Value, elementType: string): Value {
  if (!isNarrowFloat(value.elementType) || value.elementType === elementType) return value;
  const wide = { ...value, elementType };
  return writer.define(wide, `arith.extf ${value.name} : ${tensorText(value)} to ${tensorText(wide)}`);
}

/** An image in another layout and, if it has 16 bits, in a wider type: once, not for each window that reads it. */
export function movedAndWidened(
  writer: Writer,
  image: Value,
  permutation: readonly number[],
  elementType: string,
): Value {
  const moved = writer.move(image, permutation);
  const wide = widened(writer, moved, elementType);
  return wide === moved ? moved : writer.settle(wide);
}

/** Collapses a tensor of one pixel: (n, c, 1, 1) to (n, c). */
export const PIXEL = [[0], [1, 2, 3]];

/**
 * One slice along the outermost dimension, without that dimension. It is settled, so all parts share one dispatch. As a slice of
 * a larger value, each part would need its own code.
 */
export function partOf(writer: Writer, value: Value, place: number): Value {
  const [, ...inner] = value.shape;
  return writer.settle(
    writer.slice(value, [[place, null, 1], ...inner.map((size) => [0, size, 1] as const)]),
  );
}

/**
 * The results of several convolutions with the channels innermost, stacked along a new outermost dimension.
 * @param shape of the stack: (parts, n, h, w, f)
 * @param convolve writes one convolution of settled operands, added to `none` (n, h, w, f)
 */
export function oneByOne(
  writer: Writer,
  shape: readonly number[],
  { elementType }: Value,
  convolve: (part: number, none: Value) => Value,
): Value {
  const [parts, ...ofOne] = shape;
  const none = writer.zeros({ elementType, shape: ofOne });
  return writer.settle(
    writer.stack(
      Array.from({ length: parts! }, (_, part) => convolve(part, none)),
      0,
    ),
  );
}

/** Filters of a block: two or more vectors of the widest registers, and full cache lines. */
const WIDTHS = [32, 48, 64];

/** Fewer filters need no blocks. */
const LEAST_FILTERS = 128;

/** Number of filters in each block; null if no width gives at most `mostBlocks` blocks. */
export const widthOf = (filters: number, mostBlocks: number): number | null =>
  filters < LEAST_FILTERS
    ? null
    : (WIDTHS.find((width) => filters % width === 0 && filters / width <= mostBlocks) ?? null);

/** A filter (f, c, h, w) as settled blocks (blocks, h, w, c, width). */
export function inBlocks(writer: Writer, filter: Value, width: number): Value {
  const [filters, ...ofOne] = filter.shape;
  const split = writer.expand(filter, [[0, 1], [2], [3], [4]], [filters! / width, width, ...ofOne]);
  return writer.settle(writer.transpose(split, [0, 3, 4, 2, 1]));
}

/** Joins results of blocks (blocks, n, h, w, width) to the result of all filters with the channels innermost (n, h, w, f). */
export const joined = (writer: Writer, results: Value): Value =>
  writer.collapse(writer.transpose(results, [1, 2, 3, 0, 4]), [[0], [1], [2], [3, 4]]);

/** The pixels of (n, h, w, c) in one dimension. */
const FLAT = [[0, 1, 2], [3]];

/** The product of each pixel (n, h, w, c) and a matrix (c, f), in this shape. */
export function pixelsTimes(writer: Writer, image: Value, matrix: Value, shape: readonly number[]): Value {
  const pixels = writer.collapse(image, FLAT);
  return writer.expand(rowsTimes(writer, pixels, matrix), FLAT, shape);
}

/** The product of rows (p, c) and a matrix (c, f). @param elementType of the product */
export function rowsTimes(writer: Writer, rows: Value, matrix: Value, elementType = rows.elementType): Value {
  const into = writer.zeros({ elementType, shape: [rows.shape[0]!, matrix.shape[1]!] });
  return writer.contraction([rows, matrix], into, ['mk', 'kp', 'mp']);
}

/** Half of the values of an integer of 8 bits. */
export const HALF = 128;

/**
 * Unsigned integers of 8 bits as signed ones, less by `HALF`; or signed ones as unsigned ones, more by `HALF`.
 * @param signs bits that are flipped, as an integer of the element type, if it has several integers
 */
export function flipped(writer: Writer, value: Value, signs = -HALF): Value {
  const type = tensorText(value);
  const half = writer.define(value, `arith.constant dense<${signs}> : ${type}`);
  return writer.define(value, `arith.xori ${value.name}, ${half.name} : ${type}`);
}

/** Sums of floats along the last dimension. */
export function sumsOfRows(writer: Writer, rows: Value): Value {
  const loops = rows.shape.map((_, d) => `d${d}`);
  return writer.generic({
    loops: loops.join(', '),
    maps: [loops.join(', '), loops.slice(0, -1).join(', ')],
    inputs: [rows],
    into: writer.zeros({ ...rows, shape: rows.shape.slice(0, -1) }),
    body: [`%s = arith.addf %out, %x0 : ${rows.elementType}`],
    gives: '%s',
  });
}

/** Splits the first dimension of a value into more. A value with as many dimensions as the shape stays. */
export function splitRows(writer: Writer, value: Value, shape: readonly number[]): Value {
  const all = [...shape.keys()];
  const rows = all.splice(0, shape.length - value.shape.length + 1);
  return writer.expand(value, [rows, ...all.map((d) => [d])], shape);
}
