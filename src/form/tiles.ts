// Products in tiles, by microkernels of the runtime or by an intrinsic of the compiler.
import { tensorText, type Tensor } from '../workload/tensor.ts';
import { configurationText, MOST_WORKGROUPS, type Packing } from './packing.ts';
import { splitRows } from './parts.ts';
import { inStrips } from './strips.ts';
import type { Value, Writer } from './text.ts';

type Factors = readonly [lhs: Value, rhs: Value];

/**
 * The product of (m, k) and (k, n), or of batches of these, in tiles or in strips.
 * @param isTransposed whether the second factor is (n, k)
 * @param result its type; the shape may have more dimensions instead of m
 */
export function packedProduct(
  writer: Writer,
  [lhs, rhs]: Factors,
  isTransposed: boolean,
  result: Tensor,
  packing: Packing,
): Value {
  if (packing.hasStrips) return inStrips(writer, [lhs, rhs], isTransposed, result, packing);
  const { depth, columns, intrinsic } = packing;
  const [m, along, n] = [lhs.shape.at(-2)!, ...result.shape.slice(-2)] as [number, number, number];
  const batch = lhs.shape.slice(0, -2);
  const rows = intrinsic === null ? narrowed(packing.rows, m) : rowsFor(m, along, packing.rows);
  const packed = [
    pack(writer, lhs, [rows, depth], false),
    pack(writer, rhs, [columns, depth], !isTransposed),
  ] as const;
  const outer = [...batch, Math.ceil(m / rows), Math.ceil(n / columns)];
  const tiles = { ...result, shape: [...outer, rows, columns] };
  const product =
    intrinsic === null
      ? withMicrokernel(writer, packed, tiles)
      : withIntrinsic(writer, packed, tiles, intrinsic);
  return unpack(writer, product, [...batch, m, n], result.shape);
}

/** Rows of a microkernel: a power of two, fewer for narrow products. */
function narrowed(most: number, m: number): number {
  let rows = 1;
  while (rows < most && rows < m) rows *= 2;
  return rows;
}

/** About the time to load a row of the second factor, in rows of a tile. */
const ROW_OF_COLUMNS = 2;

/** How much longer a product takes whose result is not in whole tiles. */
const UNEVEN = 1.1;

/** Rows with few rows of padding and few loads. @param along the rows that follow each other in the result */
function rowsFor(m: number, along: number, most: number): number {
  const cost = (rows: number) =>
    Math.ceil(m / rows) * (rows + ROW_OF_COLUMNS) * (along % rows === 0 ? 1 : UNEVEN);
  const all = Array.from({ length: Math.min(most, m) }, (_, i) => i + 1);
  return all.reduce((best, rows) => (cost(rows) < cost(best) ? rows : best));
}

function withMicrokernel(writer: Writer, [lhs, rhs]: Factors, tiles: Tensor): Value {
  const none = writer.zeros(tiles);
  const name = tiles.shape.length === 4 ? 'linalg.mmt4d' : 'linalg.batch_mmt4d';
  const type = tensorText(none);
  return writer.define(
    none,
    `${name} ins(${lhs.name}, ${rhs.name} : ${tensorText(lhs)}, ${tensorText(rhs)}) outs(${none.name} : ${type}) -> ${type}`,
  );
}

/** @param counts of tiles along each parallel loop */
function compilationInfo(counts: readonly number[]): string {
  const batch = counts.slice(0, -2).map(() => 1);
  const distribution = [...batch, ...counts.slice(-2).map((count) => Math.ceil(count / MOST_WORKGROUPS)), 0];
  const parallel = [...counts.map(() => 1), 0];
  const reduction = [...counts.map(() => 0), 1];
  return configurationText([distribution, parallel, reduction], '#iree_cpu.pipeline<Mmt4dTilingExpert>');
}

/** In a dispatch of its own with the zeros that it begins with. The compiler would put them into another one, and then could not distribute it. */
function withIntrinsic(writer: Writer, [lhs, rhs]: Factors, tiles: Tensor, intrinsic: string): Value {
  const [rows, columns] = tiles.shape.slice(-2) as [number, number];
  const outer = [...tiles.shape.keys()].slice(0, -2);
  const [depth, rank] = [lhs.shape.at(-1)!, outer.length];
  const before = [...outer.map((d) => [d]), [rank, rank + 1], [rank + 2]];
  const split = writer.expand(lhs, before, [...lhs.shape.slice(0, -2), rows, 1, depth]);
  const type = { ...tiles, shape: [...tiles.shape.slice(0, -2), rows, 1, columns] };
  const product = writer.region(type, () => {
    const none = writer.zeros(type);
    const loops = [...outer, rank].map((d) => `d${d}`);
    const batch = loops.slice(0, rank - 2);
    const [m, n, k] = loops.slice(rank - 2) as [string, string, string];
    const maps = [
      [m, k],
      [n, k],
      [m, n],
    ].map((own) => `affine_map<(${loops.join(', ')}) -> (${[...batch, ...own].join(', ')})>`);
    const kinds = loops.map((one) => `#linalg.iterator_type<${one === k ? 'reduction' : 'parallel'}>`);
    const layout = `#iree_cpu.data_tiled_mma_layout<intrinsic = ${intrinsic}, intrinsics_m = ${rows}>`;
    return writer.define(
      type,
      `iree_codegen.inner_tiled ins(${split.name}, ${rhs.name}) outs(${none.name}) <indexing_maps = [${maps.join(', ')}], iterator_types = [${kinds.join(', ')}], kind = ${layout}, semantics = #iree_cpu.mma_semantics<>> {compilation_info = ${compilationInfo(tiles.shape.slice(0, rank))}} : ${tensorText(split)}, ${tensorText(rhs)} into ${tensorText(type)}`,
    );
  });
  return writer.collapse(product, before);
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
