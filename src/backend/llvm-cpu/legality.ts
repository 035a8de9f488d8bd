// Rules of the DoubleTilingExpert pipeline: a configuration that passes compiles. For some configurations the compiler generates the same
// code, and one of them stands for all, so that a search tries no code twice. `compiles.test.ts` and
// `canonical.test.ts` in `test/backend/llvm-cpu` compare each rule with the real compiler.
import type { OperationWork } from '../../workload/workload.ts';
import { elementBits } from '../../workload/element-type.ts';
import { elementsOf } from '../../workload/tensor.ts';
import type { DimensionKind } from '../../workload/sizes.ts';
import type { Hardware } from '../backend.ts';
import { tileOf, withTiles, type TileConfiguration } from './configuration.ts';

type VectorUnit = Pick<Hardware, 'nativeVectorBytes' | 'hasByteMatrices'>;

/** The compiler refuses vectors of this many native registers or more. */
const MAX_VECTOR_REGISTERS = 512;

/** Elements of one register. */
export const elementsPerVector = (elementType: string, { nativeVectorBytes }: VectorUnit): number =>
  Math.max(1, (nativeVectorBytes * 8) / elementBits(elementType));

/** The smallest vector that the compiler rejects, in bytes. */
export const vectorTileLimit = ({ nativeVectorBytes }: VectorUnit): number =>
  MAX_VECTOR_REGISTERS * nativeVectorBytes;

/** Bytes of the iteration-space vector: the product of all vector tiles times the accumulator's element size. */
function vectorTileBytes(workload: OperationWork, c: TileConfiguration): number {
  const elements = elementsOf(workload.dimensions.map((_, d) => Math.max(1, tileOf(c, 'vector', d))));
  return (elements * elementBits(workload.accumulator.elementType)) / 8;
}

/**
 * Bytes of the result tile that is live across a `cache_reduction` loop. The compiler does not fuse the initialisation of the accumulator
 * into the vector loops, and vectorises the tile around the loop in one piece. Workgroup tiles with a remainder have no static size;
 * then only the cache tile bounds the piece.
 */
export function liveTileBytes(workload: OperationWork, c: TileConfiguration): number {
  const elements = workload.dimensions.reduce((product, dimension, i) => {
    if (dimension.kind === 'k') return product;
    // Only tiles bound a dynamic dimension.
    const size = dimension.sizes === undefined ? dimension.size : Infinity;
    const workgroup = c.distribution[i]! || size;
    const cache = c.cacheParallel?.[i] ?? 0;
    const tile = cache === 0 ? workgroup : size % workgroup === 0 ? Math.min(cache, workgroup) : cache;
    return product * Math.min(size, tile);
  }, 1);
  return (elements * elementBits(workload.accumulator.elementType)) / 8;
}

/**
 * Bytes of stack that a dispatch may use. With a fused consumer two tiles of `cache_parallel` lie there: the tile across
 * `cache_reduction` and the consumer's result. Without this limit, a configuration could compile alone and fail in a program.
 */
const STACK_BYTES = 32768;

/** Sides of a vector of bytes that the compiler takes for a transposed one. */
const BYTE_MATRIX = 8;

/**
 * Whether the compiler (IREE 3.13.0) computes wrong sums. It multiplies matrices of bytes as if the second one were transposed, and checks
 * only its sizes. Those of a square vector fit.
 * @param n @param k vector tiles along columns and sum
 */
export const hasWrongSums = (
  { dimensions, rhs }: OperationWork,
  n: number,
  k: number,
  { hasByteMatrices }: Pick<Hardware, 'hasByteMatrices'>,
): boolean =>
  hasByteMatrices === true &&
  rhs.elementType === 'i8' &&
  dimensions[rhs.dimensions.at(-1)!]!.kind === 'n' &&
  n === BYTE_MATRIX &&
  k === BYTE_MATRIX;

/**
 * The reason that the compiler rejects a configuration, takes very long, or computes wrong results; null for a legal configuration. Pure.
 * @param c at a point of a space: with one tile for each dimension and level, and a vector tile for every dimension
 */
export function illegality(workload: OperationWork, c: TileConfiguration, unit: VectorUnit): string | null {
  const limit = vectorTileLimit(unit);
  if (vectorTileBytes(workload, c) >= limit)
    return `the vector tile is too large: it must stay below ${limit} bytes`;
  const tileAlong = (kind: DimensionKind) =>
    elementsOf(workload.dimensions.map((one, d) => (one.kind === kind ? tileOf(c, 'vector', d) : 1)));
  if (hasWrongSums(workload, tileAlong('n'), tileAlong('k'), unit))
    return 'the compiler computes wrong sums of bytes in this vector tile';
  if (c.cacheReduction !== undefined) {
    const live = liveTileBytes(workload, c);
    if (live >= limit)
      return `the result tile of the cache_reduction loop is too large: it must stay below ${limit} bytes`;
    if (c.cacheParallel !== undefined && 2 * live > STACK_BYTES)
      return `two result tiles of the cache_reduction loop exceed the stack of ${STACK_BYTES} bytes`;
  }
  return null;
}

/** Tiles of one dimension, outermost first; 0 for none. */
interface Levels {
  readonly distribution: number;
  readonly cache: number;
  readonly vector: number;
}

/** The canonical tiles of one dimension, and whether they leave no remainder. */
interface Canonical extends Levels {
  readonly isEven: boolean;
}

/** A larger distribution tile is the whole dimension. A cache tile as large as its workgroup has no effect. */
function parallel(size: number, { distribution, cache, vector }: Levels): Canonical {
  const workgroup = distribution === 0 ? size : Math.min(distribution, size);
  const isWhole = size % workgroup === 0;
  const isInert = isWhole && cache >= workgroup;
  const kept = isInert ? 0 : cache;
  const around = kept === 0 ? workgroup : kept;
  return {
    distribution: distribution === 0 ? 0 : workgroup,
    cache: kept,
    vector,
    isEven: isWhole && workgroup % around === 0 && around % vector === 0,
  };
}

/** A vector tile is at most as long as its cache tile. */
function reduction(size: number, { cache, vector }: Levels): Canonical {
  const kept = cache >= size ? 0 : cache;
  const around = kept === 0 ? size : kept;
  const inside = kept > 0 && size % kept === 0 ? Math.min(vector, kept) : vector;
  return {
    distribution: 0,
    cache: kept,
    vector: inside,
    isEven: size % around === 0 && around % inside === 0,
  };
}

/** The configuration that stands for all with the same code. Tiles of dynamic dimensions do not change. Pure. */
export function canonical({ dimensions }: OperationWork, c: TileConfiguration): TileConfiguration {
  const tiles = dimensions.map(({ kind, size, sizes }, d): Canonical => {
    const own: Levels = {
      distribution: c.distribution[d]!,
      cache: tileOf(c, 'cache', d),
      vector: Math.max(1, tileOf(c, 'vector', d)),
    };
    if (sizes !== undefined) return { ...own, isEven: own.vector === 1 };
    return kind === 'k' ? reduction(size, own) : parallel(size, own);
  });
  const peeling = c.peeling && !tiles.every(({ isEven }) => isEven);
  // `vector_inner_parallel` has no effect on the root of a dispatch.
  return withTiles(dimensions, peeling, (level, d) => (level === 'inner' ? 0 : tiles[d]![level]));
}
