// The compiler generates the same code for some tile configurations. One of them stands for all, so that a search tries no code twice.
// `test/backend/llvm-cpu/canonical.test.ts` compares each rule with the real compiler.
import type { OperationWork } from '../../workload/workload.ts';
import { tileOf, withTiles, type TileConfiguration } from './configuration.ts';

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
