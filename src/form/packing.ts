// Products in tiles. By default, the compiler multiplies narrow numbers one by one, where the processor has dot products. With data tiling of a whole
// program, it swaps the sides of narrow results, and has microkernels only. A form that writes the tiles itself needs no flag, and can use intrinsics.
//
// Floats of 32 bits with constant weights have strips: columns as wide as the register tile, one after the other. Their rows are read as they are. The
// weights of a strip may be narrower than the rows, and are widened in registers. In the layout of the program, the rows of the weights that a
// tile reads are kilobytes apart, and evict each other from the caches.
import { elementBits, isFloat } from '../workload/element-type.ts';
import { tensorText, type Tensor } from '../workload/tensor.ts';
import type { Value, Writer } from './text.ts';

/** How a product in tiles is multiplied. */
export interface Packing {
  /** Most rows of a tile. */
  readonly rows: number;
  readonly columns: number;
  /** Along the summed dimension. */
  readonly depth: number;
  /** The compiler's intrinsic for tiles of one row, which may have any number of rows then. Null for a microkernel of the runtime. */
  readonly intrinsic: string | null;
  /** Whether integers of the first factor are unsigned. Those of the second are signed. */
  readonly isUnsigned: boolean;
  /** Whether only the second factor has another layout: strips of `columns`. */
  readonly hasStrips?: true;
}

const kernel = (rows: number, columns: number, depth: number): Packing => ({
  ...{ rows, columns, depth },
  ...{ intrinsic: null, isUnsigned: false },
});

/** Columns of a strip. */
const STRIP = 16;

/** Rows whose sums fit into 32 registers, beside a row of each factor. */
const MOST_ROWS = 28;

/**
 * By name: microkernels by their sizes, and intrinsics. The runtime computes wrong sums in tiles that it has no microkernel for. Source: IREE's
 * `mmt4d_x86_64_tiles.inl`, `mmt4d_arm_64_tiles.inl` and `IREECPUEnums.td`.
 */
const PACKINGS = {
  '16x16x2': kernel(16, 16, 2),
  '8x8x2': kernel(8, 8, 2),
  '8x8x8': kernel(8, 8, 8),
  '8x8x4': kernel(8, 8, 4),
  '8x8x1': kernel(8, 8, 1),
  vpdpbusd: {
    ...{ rows: MOST_ROWS, columns: 16, depth: 4 },
    ...{ intrinsic: 'MMA_X86_AVX512VNNI_1x16x4_I32_UI8_I8', isUnsigned: true },
  },
  vdpbf16ps: {
    ...{ rows: MOST_ROWS, columns: 16, depth: 2 },
    ...{ intrinsic: 'MMA_X86_AVX512BF16_1x16x2_F32_BF16', isUnsigned: false },
  },
  // Twelve sums, two vectors of a strip and an element of a row fill 15 of 16 registers.
  '6x16': { ...kernel(6, STRIP, 1), hasStrips: true },
  // For 32 registers: 24 sums. More rows evict each other where a row has a power of two of elements.
  '6x64': { ...kernel(6, 4 * STRIP, 1), hasStrips: true },
} as const satisfies Readonly<Record<string, Packing>>;

export type PackingName = keyof typeof PACKINGS;

/** Types of factors that can be in tiles. Those of `stored` are f32, and narrower weights. */
export type Packed = 'i8' | 'bf16' | 'f16' | 'f32' | 'stored';

/** The packing of a processor by the type of the factors; without an entry for none. */
export type Packings = Readonly<Partial<Record<Packed, PackingName>>>;

/** Whether a packing is of the compiler's code, not of the runtime's. */
export const hasIntrinsic = (name: PackingName): boolean => PACKINGS[name].intrinsic !== null;

/** The name of a form with a packing: `windows-by-filters-vpdpbusd`. */
export const packedName = (name: string, packing: PackingName): string => `${name}-${packing}`;

/** The parts of a form's name. */
export interface FormName {
  readonly name: string;
  readonly packing: Packing | null;
}

export function packingIn(form: string): FormName {
  const at = form.lastIndexOf('-');
  const packing = form.slice(at + 1);
  if (!Object.hasOwn(PACKINGS, packing)) return { name: form, packing: null };
  return { name: form.slice(0, at), packing: PACKINGS[packing as PackingName] };
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

/** Steps along the summed dimension that are unrolled; half of them for one row. */
const STEPS = 4;

/** Whether a product has several strips: the compiler drops loops of one step, and with them the configuration. */
export const hasStrips = (n: number, k: number): boolean => n >= 2 * STRIP && k >= STEPS;

/** Most rows of a workgroup. */
const MOST_IN_WORKGROUP = 192;

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

/**
 * Columns of a strip. Strips of 8 bits are as wide as the tile of one row: narrower ones are many streams of few bytes, which are read from memory at
 * two thirds of its rate.
 */
function stripOf(packing: Packing, { elementType }: Tensor, n: number): number {
  let columns = elementBits(elementType) > 8 ? packing.columns : columnsFor(1, packing);
  const isFilled = () => n > columns && Math.ceil(n / columns) * columns <= (1 + MOST_PADDING) * n;
  while (columns > STRIP && !isFilled()) columns /= 2;
  return columns;
}

/**
 * Few rows read each strip once, from memory. They fill the registers with several strips, which are read at once, or with more columns of one.
 * @param factors (m, k) or (b, m, k), and weights (k, n), or a batch of one of these
 */
function inStrips(
  writer: Writer,
  factors: Factors,
  isTransposed: boolean,
  result: Tensor,
  packing: Packing,
): Value {
  const [lhs, rhs] = factors.map((one) => withoutBatch(writer, one)) as [Value, Value];
  const [m, k] = lhs.shape as [number, number];
  const n = result.shape.at(-1)!;
  const columns = stripOf(packing, rhs, n);
  const count = Math.ceil(n / columns);
  const weights = isTransposed ? writer.transpose(rhs, [1, 0]) : rhs;
  const padded = writer.pad(weights, [0, 0], [0, count * columns - n]);
  const split = writer.expand(padded, [[0], [1, 2]], [k, count, columns]);
  const strips = writer.settle(writer.transpose(split, [1, 0, 2]));
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

type Factors = readonly [lhs: Value, rhs: Value];

function withMicrokernel(writer: Writer, [lhs, rhs]: Factors, tiles: Tensor): Value {
  const none = writer.zeros(tiles);
  const name = tiles.shape.length === 4 ? 'linalg.mmt4d' : 'linalg.batch_mmt4d';
  const type = tensorText(none);
  return writer.define(
    none,
    `${name} ins(${lhs.name}, ${rhs.name} : ${tensorText(lhs)}, ${tensorText(rhs)}) outs(${none.name} : ${type}) -> ${type}`,
  );
}

/** Most workgroups along the rows and along the columns. By default, each tile is one, which two threads hand out for longer than they multiply. */
const MOST_WORKGROUPS = 8;

/** @param tiles of workgroups, of registers along the parallel loops, and along the summed loop */
function configurationText(tiles: readonly (readonly number[])[], pipeline: string): string {
  const [distribution, parallel, reduction] = tiles.map((one) => `[${one.join(', ')}]`);
  return `#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = ${distribution!}, vector_common_parallel = ${parallel!}, vector_reduction = ${reduction!}>, translation_info = #iree_codegen.translation_info<pipeline = ${pipeline}>>`;
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

/** Splits the first dimension of a value into more. A value with as many dimensions as the shape stays. */
export function splitRows(writer: Writer, value: Value, shape: readonly number[]): Value {
  const all = [...shape.keys()];
  const rows = all.splice(0, shape.length - value.shape.length + 1);
  return writer.expand(value, [rows, ...all.map((d) => [d])], shape);
}
