// Products with constant weights in strips: columns as wide as the register tile, one strip after the other. Their rows are read as they are, and
// weights that are narrower than the rows are widened in registers. In the layout of the program, the rows of the weights that a tile reads are
// kilobytes apart, and evict each other from the caches.
import { elementBits, isFloat } from '../workload/element-type.ts';
import type { Tensor } from '../workload/tensor.ts';
import { configurationText, MOST_WORKGROUPS, STRIP, type Packing } from './packing.ts';
import { splitRows } from './parts.ts';
import type { Value, Writer } from './text.ts';

/** Steps along the summed dimension that are unrolled; half of them for one row. */
const STEPS = 4;

/** Whether a product has several strips: the compiler drops loops of one step, and with them the configuration. */
export const hasStrips = (n: number, k: number): boolean => n >= 2 * STRIP && k >= STEPS;

/** Most rows of a workgroup. */
export const MOST_IN_WORKGROUP = 192;

/** Most columns that a row reads at once. More of them are slower, although their sums fit into registers. */
const MOST_COLUMNS = 128;

/** Most bytes of the strips of a workgroup: they stay in the second cache, while all rows are multiplied. */
const STRIP_BYTES = 2 ** 18;

/** (b, m, k) as (b * m, k). */
const withoutBatch = (writer: Writer, value: Value): Value =>
  value.shape.length === 3 ? writer.collapse(value, [[0, 1], [2]]) : value;

/** Largest share of columns that are padding. */
const MOST_PADDING = 0.06;

/** Columns of a tile of registers with so many rows. */
function columnsFor(m: number, { rows, columns }: Packing): number {
  return m < rows ? Math.min(MOST_COLUMNS, columns * 2 ** Math.floor(Math.log2(rows / m))) : columns;
}

/** Columns of a strip: as many as wanted, or fewer, so that few of all columns are padding. */
export function columnsOfStrip(wanted: number, n: number): number {
  let columns = wanted;
  const isFilled = () => n > columns && Math.ceil(n / columns) * columns <= (1 + MOST_PADDING) * n;
  while (columns > STRIP && !isFilled()) columns /= 2;
  return columns;
}

/** Values along columns, which are the last dimension, as settled strips: the strip is the first dimension then. */
export function stripsOf(writer: Writer, value: Value, columns: number): Value {
  const [before, n] = [value.shape.slice(0, -1), value.shape.at(-1)!];
  const outer = before.map((_, d) => d);
  const count = Math.ceil(n / columns);
  const none = before.map(() => 0);
  const padded = writer.pad(value, [...none, 0], [...none, count * columns - n]);
  const rank = before.length;
  const groups = [...outer.map((d) => [d]), [rank, rank + 1]];
  const split = writer.expand(padded, groups, [...before, count, columns]);
  return writer.settle(writer.transpose(split, [rank, ...outer, rank + 1]));
}

/**
 * Few rows read each strip once, from memory. They fill the registers with several strips, which are read at once, or with more columns of one.
 * @param factors (m, k) or (b, m, k), and weights (k, n), or a batch of one of these
 */
export function inStrips(
  writer: Writer,
  factors: readonly [lhs: Value, rhs: Value],
  isTransposed: boolean,
  result: Tensor,
  packing: Packing,
): Value {
  const [lhs, rhs] = factors.map((one) => withoutBatch(writer, one)) as [Value, Value];
  const [m, k] = lhs.shape as [number, number];
  const n = result.shape.at(-1)!;
  // Strips of 8 bits are as wide as the tile of one row: narrower ones are many streams of few bytes, which are read from memory at two thirds of
  // its rate.
  const columns = columnsOfStrip(
    elementBits(rhs.elementType) > 8 ? packing.columns : columnsFor(1, packing),
    n,
  );
  const count = Math.ceil(n / columns);
  const weights = isTransposed ? writer.transpose(rhs, [1, 0]) : rhs;
  const strips = stripsOf(writer, weights, columns);
  const { elementType } = result;
  const isStored = strips.elementType !== elementType;
  const isThin = m < packing.rows;
  const inRegisters = columnsFor(m, packing);
  const atOnce = Math.ceil(inRegisters / columns);
  const bytes = elementBits(strips.elementType) / 8;
  const inCache = Math.max(1, Math.floor(STRIP_BYTES / (k * columns * bytes)));
  const inWorkgroup = Math.ceil(count / MOST_WORKGROUPS);
  const wanted = isThin ? inWorkgroup : Math.min(inCache, inWorkgroup);
  const ofStrips = atOnce * Math.ceil(wanted / atOnce);
  // The compiler drops a loop over one row.
  const hasRows = m > 1;
  const own = hasRows ? [0] : [];
  const widen = isFloat(strips.elementType) ? 'arith.extf' : 'arith.sitofp';
  const product = writer.generic({
    loops: hasRows ? 'm, s, c, k' : 's, c, k',
    maps: hasRows ? ['m, k', 's, k, c', 'm, s, c'] : ['k', 's, k, c', 's, c'],
    inputs: [hasRows ? lhs : writer.collapse(lhs, [[0, 1]]), strips],
    into: writer.zeros({ elementType, shape: [...own.map(() => m), count, columns] }),
    body: [
      ...(isStored ? [`%w = ${widen} %x1 : ${strips.elementType} to ${elementType}`] : []),
      `%p = arith.mulf %x0, ${isStored ? '%w' : '%x1'} : ${elementType}`,
      `%s = arith.addf %out, %p : ${elementType}`,
    ],
    gives: '%s',
    configuration: configurationText(
      [
        [...own.map(() => Math.min(m, MOST_IN_WORKGROUP)), ofStrips, 0, 0],
        [...own.map(() => Math.min(m, packing.rows)), atOnce, Math.min(columns, inRegisters), 0],
        [...own, 0, 0, hasRows ? STEPS : STEPS / 2],
      ],
      '#iree_cpu.pipeline<DoubleTilingExpert>, {enable_loop_peeling}',
    ),
  });
  const all = writer.collapse(product, hasRows ? [[0], [1, 2]] : [[0, 1]]);
  const whole = writer.slice(all, [...own.map(() => [0, m, 1] as const), [0, n, 1]]);
  return splitRows(writer, whole, result.shape);
}
