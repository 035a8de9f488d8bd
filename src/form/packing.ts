// Products in the layout of the runtime's microkernels: operands in tiles, as data tiling packs them. A form that packs needs no flag, and packs only where
// it gains. Sides stay as they are: data tiling swaps them if the result is narrow, and then has to transpose every tile of the result.
import { tensorText, type Tensor } from '../workload/tensor.ts';
import type { Value, Writer } from './text.ts';

/** Sizes of the tiles of a product. */
export interface Packing {
  readonly rows: number;
  readonly columns: number;
  /** Along the summed dimension. */
  readonly depth: number;
}

/** Tiles of a processor's microkernels by the types of the factors; null without a microkernel. */
export interface Microkernels {
  readonly i8: Packing | null;
}

const MOST = 64;
const SUFFIX = /^(.+)-([1-9]\d?)x([1-9]\d?)x([1-9]\d?)$/;

/** The name of a form with tiles: `windows-by-filters-16x16x2`. */
export const packedName = (name: string, { rows, columns, depth }: Packing): string =>
  `${name}-${rows}x${columns}x${depth}`;

/** The parts of a form's name. */
export function packingIn(form: string): { readonly name: string; readonly packing: Packing | null } {
  const [, name, ...sizes] = SUFFIX.exec(form) ?? [];
  const [rows, columns, depth] = sizes.map(Number) as [number, number, number];
  if (name === undefined || Math.max(rows, columns, depth) > MOST) return { name: form, packing: null };
  return { name, packing: { rows, columns, depth } };
}

/**
 * The product of (m, k) and (k, n), or of batches of these, in tiles.
 * @param isTransposed whether the second factor is (n, k)
 * @param result its type; the shape may have more dimensions instead of m
 */
export function packedProduct(
  writer: Writer,
  [lhs, rhs]: readonly [Value, Value],
  isTransposed: boolean,
  result: Tensor,
  packing: Packing,
): Value {
  const { depth, columns } = packing;
  const [m, n] = [lhs.shape.at(-2)!, result.shape.at(-1)!];
  const batch = lhs.shape.slice(0, -2);
  // Microkernels have fewer rows for narrow products.
  let rows = 1;
  while (rows < packing.rows && rows < m) rows *= 2;
  const packed = [
    pack(writer, lhs, [rows, depth], false),
    pack(writer, rhs, [columns, depth], !isTransposed),
  ] as const;
  const shape = [...batch, Math.ceil(m / rows), Math.ceil(n / columns), rows, columns];
  const none = writer.zeros({ ...result, shape });
  const operands = `ins(${packed.map(({ name }) => name).join(', ')} : ${packed.map(tensorText).join(', ')})`;
  const name = batch.length === 0 ? 'linalg.mmt4d' : 'linalg.batch_mmt4d';
  const type = tensorText(none);
  const product = writer.define(none, `${name} ${operands} outs(${none.name} : ${type}) -> ${type}`);
  return unpack(writer, product, [...batch, m, n], result.shape);
}

/** Packs a matrix, or a batch of matrices. @param isSwapped whether its columns become the rows of the tiles */
function pack(writer: Writer, value: Value, tile: readonly [number, number], isSwapped: boolean): Value {
  const { shape, elementType } = value;
  const rank = shape.length;
  const matrix = isSwapped ? [rank - 1, rank - 2] : [rank - 2, rank - 1];
  const outer = [...shape.keys()].slice(0, rank - 2);
  const counts = matrix.map((d, i) => Math.ceil(shape[d]! / tile[i]!));
  const into = writer.empty({ elementType, shape: [...outer.map((d) => shape[d]!), ...counts, ...tile] });
  const zero = writer.zero(elementType);
  return writer.define(
    into,
    `linalg.pack ${value.name} padding_value(${zero.name} : ${elementType}) outer_dims_perm = [${[...outer, ...matrix].join(', ')}] inner_dims_pos = [${matrix.join(', ')}] inner_tiles = [${tile.join(', ')}] into ${into.name} : ${tensorText(value)} -> ${tensorText(into)}`,
  );
}

/**
 * Unpacks a product in tiles.
 * @param flat its shape without tiles
 * @param shape with more dimensions instead of m
 */
function unpack(writer: Writer, tiled: Value, flat: readonly number[], shape: readonly number[]): Value {
  const [rows, columns] = tiled.shape.slice(-2) as [number, number];
  const [along, n] = shape.slice(-2) as [number, number];
  const outer = shape.slice(0, -2);
  const at = outer.length;
  const before = [...outer.keys()];
  // A transpose of whole tiles is faster than an unpacking, and is fused into what follows.
  if (along % rows === 0 && n % columns === 0) {
    const split = [...outer, along / rows, n / columns, rows, columns];
    const groups =
      flat.length === 3 ? split.map((_, d) => [d]) : [[...before, at], [at + 1], [at + 2], [at + 3]];
    const moved = writer.transpose(writer.expand(tiled, groups, split), [
      ...before,
      at,
      at + 2,
      at + 1,
      at + 3,
    ]);
    return writer.collapse(moved, [...before.map((d) => [d]), [at, at + 1], [at + 2, at + 3]]);
  }
  const batch = [...flat.keys()].slice(0, -2);
  const matrix = [flat.length - 2, flat.length - 1];
  const into = writer.empty({ ...tiled, shape: flat });
  const unpacked = writer.define(
    into,
    `linalg.unpack ${tiled.name} outer_dims_perm = [${[...batch, ...matrix].join(', ')}] inner_dims_pos = [${matrix.join(', ')}] inner_tiles = [${rows}, ${columns}] into ${into.name} : ${tensorText(tiled)} -> ${tensorText(into)}`,
  );
  return splitRows(writer, unpacked, shape);
}

/** Splits the first dimension of (m, n) into more. A value with its shape stays. */
export const splitRows = (writer: Writer, value: Value, shape: readonly number[]): Value =>
  writer.expand(value, [[...shape.keys()].slice(0, -1), [shape.length - 1]], shape);
