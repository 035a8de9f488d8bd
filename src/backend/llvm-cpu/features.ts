// Features of tiles, from which a prior predicts the speed. Most sizes are logarithms to base 2, so that a prior holds for other shapes,
// too.
import { elementBits } from '../../workload/element-type.ts';
import type { DimensionKind } from '../../workload/sizes.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { TileConfiguration } from './configuration.ts';
import { asOne, divisionOf, type Division } from './division.ts';
import { laneDimension, lanesOf, rowDimension } from './tile-knobs.ts';

type Options = Pick<SpaceOptions, 'nativeVectorBytes' | 'vectorRegisters' | 'threads' | 'cachesKiB'>;

/** Bytes from a set of a cache to the same set. L1 on x86 has 4 KiB, the size of a page; 64 KiB are typical of L2. */
const L1_WAY = 2 ** 12;
const L2_WAY = 2 ** 16;

/** Bytes of a cache line. */
const CACHE_LINE = 64;

/** Typical size of L2 in KiB, where it is not known. */
const L2_KIB = 1024;

type Sizes = ReturnType<typeof sizesOf>;

const log = (value: number): number => Math.log2(Math.max(value, 2 ** -10));
/** The share of a size that is left after whole tiles. */
const part = (size: number, tile: number): number => (size % tile) / size;
/** Exponent of the largest power of two that divides a size; at most that of `most`, itself a power of two. */
const alignment = (size: number, most: number): number => Math.log2(powerIn(size, most));

interface RegisterTile {
  readonly rows: number;
  /** Vectors of a row. */
  readonly vectors: number;
}

/** Registers of a tile: its sums, a row of one operand and an element of the other. */
export const live = ({ rows, vectors }: RegisterTile): number => rows * vectors + vectors + 1;
const spills = (s: Sizes): number => Math.max(0, live(s) - s.options.vectorRegisters);
/** Vector operations that widen a vector of B, such as from f16 to f32. */
const widenings = ({ bytes: { b, c } }: Sizes): number => (b === c ? 0 : 2);
/**
 * Cycles of one step of k in the register tile, on a core with two units for sums of products, two for loads, and six operations per
 * cycle. A sum waits four cycles for the one before it.
 * @param widened operations that widen a vector
 */
export const stepCycles = ({ rows, vectors }: RegisterTile, widened = 0): number =>
  Math.max(
    (rows * vectors) / 2,
    (rows + vectors) / 2,
    4,
    (rows * vectors + vectors + rows / 2 + widened * vectors) / 6,
  );
const cycles = (s: Sizes): number => spills(s) + stepCycles(s, widenings(s));
/** Share of the products in whole register tiles. */
const inWhole = ({ along: { m, n, k } }: Sizes): number => m.whole * n.whole * k.whole;
const strideOf = (elements: number, bytes: number): number => Math.max(1, Math.round(elements * bytes));
/** Tiles for caches lie within a workgroup's. */
const blockM = (s: Sizes): number => Math.min(s.workgroup.m, s.cache.m);
const blockN = (s: Sizes): number => Math.min(s.workgroup.n, s.cache.n);

const l2Bytes = ({ cachesKiB }: Options): number => 1024 * (cachesKiB?.[1] ?? L2_KIB);
const allBytes = ({ bytes, whole: { m, n, k } }: Sizes): number =>
  bytes.a * m * k + bytes.b * k * n + bytes.c * m * n;

const blockA = ({ bytes, cache }: Sizes): number => bytes.a * cache.m * cache.k;
const blockB = ({ bytes, cache }: Sizes): number => bytes.b * cache.k * cache.n;
const panelB = ({ bytes, whole, workgroup }: Sizes): number => bytes.b * whole.k * workgroup.n;
const inL2 = (bytes: number, s: Sizes): number => log(bytes / l2Bytes(s.options));

/** All features. A, B and C are lhs, rhs and result. */
const OF: Readonly<Record<string, (sizes: Sizes) => number>> = {
  vectorBytes: ({ options }) => log(options.nativeVectorBytes),
  vectorRegisters: ({ options }) => options.vectorRegisters,
  l2: ({ options }) => log(l2Bytes(options)),
  bytesA: ({ bytes }) => log(bytes.a),
  bytesB: ({ bytes }) => log(bytes.b),
  isBf16: ({ isBf16 }) => (isBf16 ? 1 : 0),
  m: ({ whole }) => log(whole.m),
  n: ({ whole }) => log(whole.n),
  k: ({ whole }) => log(whole.k),
  bytes: (s) => log(allBytes(s)),
  bytesOfRowA: ({ bytes, whole }) => log(bytes.a * whole.k),
  bytesOfB: ({ bytes, whole }) => log(bytes.b * whole.k * whole.n),
  alignmentM: ({ whole }) => alignment(whole.m, 64),
  alignmentN: ({ whole }) => alignment(whole.n, 64),
  unalignedB: ({ bytes, whole }) => (strideOf(whole.n, bytes.b) % CACHE_LINE === 0 ? 0 : 1),

  // The register tile.
  rows: (s) => log(s.rows),
  vectors: (s) => log(s.vectors),
  depth: (s) => log(s.depth),
  alignmentRows: (s) => alignment(s.rows, 16),
  alignmentColumns: (s) => alignment(s.columns, 64),
  alignmentDepth: (s) => alignment(s.depth, 16),
  accumulators: (s) => log(s.rows * s.vectors),
  registers: (s) => live(s) / s.options.vectorRegisters,
  spilled: spills,
  broadcasts: (s) => log(s.rows / s.vectors),
  loads: (s) => log((s.rows + s.vectors) / (s.rows * s.vectors)),
  unrolled: (s) => log(s.rows * s.vectors * s.depth),
  loadsA: (s) => log(s.rows * s.depth),
  loadsB: (s) => log(s.vectors * s.depth),
  otherRows: (s) => log(s.rows / s.ownRows),
  peeling: (s) => (s.peeling ? 1 : 0),
  partVector: (s) => (s.columns % s.lanes) / s.lanes,
  cyclesPerSum: (s) => log((2 * cycles(s)) / (s.rows * s.vectors)),
  cycles: (s) => log((2 * s.lanes * cycles(s) * s.along.m.tiles * s.along.n.tiles) / (s.whole.m * s.whole.n)),

  // Remainders.
  rowRemainder: (s) => part(s.row.size, s.ownRows),
  laneRemainder: (s) => part(s.lane.size, s.columns),
  depthRemainder: (s) => part(s.whole.k, Math.min(s.whole.k, s.depth)),
  blockRemainderM: (s) => part(Math.min(s.cache.m, s.whole.m), s.ownRows),
  blockRemainderN: (s) => part(s.cache.n, s.columns),
  blockRemainderK: (s) => part(s.cache.k, s.depth),
  lastBlockK: (s) => part(s.whole.k, s.cache.k),
  lastRows: (s) => ((s.whole.m % s.workgroup.m || s.whole.m) % s.ownRows) / s.whole.m,
  useful: ({ whole: { m, n }, ownRows, columns }) =>
    log((m * n) / (Math.ceil(m / ownRows) * ownRows * Math.ceil(n / columns) * columns)),
  usefulLanes: ({ whole: { n }, lanes }) => log(n / (Math.ceil(n / lanes) * lanes)),

  // Remainders of all levels together.
  usefulTiles: ({ along: { m, n, k } }) => log(m.useful * n.useful * k.useful),
  usefulM: ({ along }) => along.m.useful,
  usefulN: ({ along }) => along.n.useful,
  usefulK: ({ along }) => along.k.useful,
  whole: inWhole,
  wholeM: ({ along }) => along.m.whole,
  wholeN: ({ along }) => along.n.whole,
  wholeK: ({ along }) => along.k.whole,
  peeled: (s) => (s.peeling ? 1 - inWhole(s) : 0),

  // Workgroups.
  workgroupM: (s) => log(s.workgroup.m),
  workgroupN: (s) => log(s.workgroup.n),
  workgroups: (s) => log(s.workgroups),
  idle: ({ workgroups, options: { threads } }) =>
    1 - workgroups / (Math.ceil(workgroups / threads) * threads),
  workgroupRemainderM: (s) => part(s.row.size, s.row.tile),
  workgroupRemainderN: (s) => part(s.lane.size, s.lane.tile),
  panelA: (s) => log(s.bytes.a * s.workgroup.m * s.whole.k),
  panelB: (s) => log(panelB(s)),
  panelC: (s) => log(s.bytes.c * s.workgroup.m * s.workgroup.n),
  tilesM: (s) => log(s.workgroup.m / s.rows),
  tilesN: (s) => log(s.workgroup.n / s.columns),
  tilesK: (s) => log(s.whole.k / s.depth),
  steps: ({ whole: { m, n, k }, ownRows, columns, depth }) =>
    log(Math.ceil(m / ownRows) * Math.ceil(n / columns) * Math.ceil(k / depth)),

  // Caches: the bytes of each block, and how unevenly its lines use the sets.
  hasCache: (s) => (s.hasCache ? 1 : 0),
  hasCacheK: (s) => (s.hasCacheK ? 1 : 0),
  cacheM: (s) => log(s.cache.m),
  cacheN: (s) => log(s.cache.n),
  cacheK: (s) => log(s.cache.k),
  cachedA: (s) => log(blockA(s)),
  cachedB: (s) => log(blockB(s)),
  cachedC: (s) => log(s.bytes.c * s.cache.m * s.cache.n),
  stripA: (s) => log(s.bytes.a * s.rows * s.cache.k),
  stripB: (s) => log(s.bytes.b * s.cache.k * s.columns),
  blockAInL2: (s) => inL2(blockA(s), s),
  blockBInL2: (s) => inL2(blockB(s), s),
  panelBInL2: (s) => inL2(panelB(s), s),
  allInL2: (s) => inL2(allBytes(s), s),
  blocksM: (s) => log(Math.ceil(s.workgroup.m / s.cache.m)),
  blocksN: (s) => log(Math.ceil(s.workgroup.n / s.cache.n)),
  blocksK: (s) => log(Math.ceil(s.whole.k / s.cache.k)),
  tilesOfBlockM: (s) => log(Math.ceil(blockM(s) / s.rows)),
  tilesOfBlockN: (s) => log(Math.ceil(blockN(s) / s.columns)),
  stepsOfBlockK: (s) => log(Math.ceil(s.cache.k / s.depth)),
  runOfBlockB: (s) => log(blockN(s) * s.bytes.b),
  usefulLinesB: ({ columns, bytes: { b } }) =>
    log((Math.ceil((columns * b) / CACHE_LINE) * CACHE_LINE) / (columns * b)),
  conflictsRowsA: (s) => log(linesInSet(1, s.rows, strideOf(s.whole.k, s.bytes.a), L1_WAY)),
  conflictsRowsC: (s) => log(linesInSet(1, s.rows, strideOf(s.whole.n, s.bytes.c), L1_WAY)),
  conflictsStripA: (s) => conflictsA(s, s.rows, L1_WAY),
  conflictsBlockA: (s) => conflictsA(s, blockM(s), L2_WAY),
  conflictsStripB1: (s) => conflictsB(s, s.columns, L1_WAY),
  conflictsStripB2: (s) => conflictsB(s, s.columns, L2_WAY),
  conflictsBlockB1: (s) => conflictsB(s, blockN(s), L1_WAY),
  conflictsBlockB2: (s) => conflictsB(s, blockN(s), L2_WAY),
};

const conflictsA = ({ cache, whole, bytes: { a } }: Sizes, rows: number, way: number): number =>
  log(linesInSet(cache.k * a, rows, strideOf(whole.k, a), way));

const conflictsB = ({ cache, whole, bytes: { b } }: Sizes, columns: number, way: number): number =>
  log(linesInSet(columns * b, cache.k, strideOf(whole.n, b), way));

/** Names of the features, in their order. A prior with other names comes from another version of this program. */
export const FEATURES: readonly string[] = Object.keys(OF);

export function tileFeatures(workload: OperationWork, c: TileConfiguration, options: Options): number[] {
  const sizes = sizesOf(workload, c, options);
  return FEATURES.map((name) => OF[name]!(sizes));
}

/** Sizes of a contraction m x n x k and of the tiles on each level. Several dimensions of a kind count as one. */
function sizesOf(workload: OperationWork, c: TileConfiguration, options: Options) {
  const { dimensions, lhs, rhs, accumulator } = workload;
  const product = (kind: DimensionKind, of: (d: number, size: number) => number) =>
    dimensions.reduce((all, one, d) => (one.kind === kind ? all * of(d, one.size) : all), 1);
  const size = (_: number, own: number) => own;
  const whole = { m: product('m', size), n: product('n', size), k: product('k', size) };
  const bytesOf = ({ elementType }: { readonly elementType: string }) => elementBits(elementType) / 8;
  const [lane, row] = [laneDimension(workload), rowDimension(workload)];
  const tile = (tiles: readonly number[] | undefined, otherwise: (d: number, own: number) => number) => {
    return (d: number, own: number) => Math.min(own, (tiles?.[d] ?? 0) || otherwise(d, own));
  };
  const vector = tile(c.vectorCommonParallel, size);
  const workgroup = tile(c.distribution, size);
  const cache = tile(c.cacheParallel, workgroup);
  const [vectorK, cacheK] = [tile(c.vectorReduction, size), tile(c.cacheReduction, size)];
  const [laneSize, rowSize] = [dimensions[lane]?.size ?? 1, row < 0 ? 1 : dimensions[row]!.size];
  const columns = vector(lane, laneSize);
  const lanes = lanesOf(workload, options);
  const parallel = (of: (d: number, own: number) => number, but = -1) =>
    dimensions.reduce((all, one, d) => (one.kind === 'k' || d === but ? all : all * of(d, one.size)), 1);
  const along = (kind: DimensionKind): Division => {
    const levels = kind === 'k' ? [cacheK, vectorK] : [workgroup, cache, vector];
    const tilesOf = (d: number, own: number) => levels.map((level) => level(d, own));
    return asOne(
      dimensions.flatMap((one, d) => (one.kind === kind ? [divisionOf(one.size, tilesOf(d, one.size))] : [])),
    );
  };
  return {
    ...{ options, whole, columns, lanes, peeling: c.peeling },
    /** Bytes of an element of each operand. */
    bytes: { a: bytesOf(lhs), b: bytesOf(rhs), c: bytesOf(accumulator) },
    isBf16: lhs.elementType === 'bf16',
    /** Rows of the register tile, of which `ownRows` are along one dimension. */
    rows: parallel(vector, lane),
    ownRows: row < 0 ? 1 : vector(row, rowSize),
    depth: product('k', vectorK),
    vectors: Math.ceil(columns / lanes),
    workgroup: { m: product('m', workgroup), n: product('n', workgroup) },
    workgroups: parallel((d, own) => Math.ceil(own / workgroup(d, own))),
    /** Tiles for caches; without them the workgroup's tiles and the whole k. */
    cache: { m: product('m', cache), n: product('n', cache), k: product('k', cacheK) },
    hasCache: c.cacheParallel !== undefined,
    hasCacheK: c.cacheReduction !== undefined,
    row: { size: rowSize, tile: row < 0 ? 1 : workgroup(row, rowSize) },
    lane: { size: laneSize, tile: workgroup(lane, laneSize) },
    /** How all levels together divide the dimensions of each kind. */
    along: { m: along('m'), n: along('n'), k: along('k') },
  };
}

/**
 * Lines that the fullest set of a cache holds. Rows at a distance of a power of two share few sets, and evict each other from a cache
 * that has room for all of them.
 * @param run bytes of each row that are used
 * @param stride bytes from row to row
 * @param way bytes from a set to the same set: a power of two
 */
function linesInSet(run: number, rows: number, stride: number, way: number): number {
  const step = powerIn(stride, way);
  const lines = Math.max(1, Math.ceil(run / CACHE_LINE));
  const places = Math.min(way / step, rows);
  const sets = Math.min(way / CACHE_LINE, places * Math.min(Math.max(1, step / CACHE_LINE), lines));
  return (lines * rows) / sets;
}

/** The largest power of two up to `most` that divides a number. */
function powerIn(number: number, most: number): number {
  let power = 1;
  while (power < most && number % (2 * power) === 0) power *= 2;
  return power;
}
