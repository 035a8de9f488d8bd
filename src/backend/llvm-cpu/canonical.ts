// The compiler generates the same code for some tile configurations. One of them stands for all, so that a search tries no code twice.
// `test/backend/llvm-cpu/canonical.test.ts` compares each rule with the real compiler.
import type { Dimension } from '../../workload/contraction/contraction.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { TileConfiguration } from './configuration.ts';

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
function reduction(size: number, { cache, vector }: Omit<Levels, 'distribution'>): Canonical {
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

const isDynamic = ({ sizes }: Dimension) => sizes !== undefined;

/** The configuration that stands for all with the same code. Tiles of dynamic dimensions do not change. Pure. */
export function canonical({ dimensions }: OperationWork, c: TileConfiguration): TileConfiguration {
  const tiles = dimensions.map((dimension, d): Canonical => {
    const isReduced = dimension.kind === 'k';
    const own: Levels = {
      distribution: c.distribution[d]!,
      cache: (isReduced ? c.cacheReduction : c.cacheParallel)?.[d] ?? 0,
      vector: Math.max(1, isReduced ? c.vectorReduction[d]! : c.vectorCommonParallel[d]!),
    };
    if (isDynamic(dimension)) return { ...own, isEven: own.vector === 1 };
    return isReduced ? reduction(dimension.size, own) : parallel(dimension.size, own);
  });
  const level = (name: keyof Levels, isReduced: boolean, otherwise: readonly number[] | undefined) =>
    dimensions.map(({ kind }, d) => ((kind === 'k') === isReduced ? tiles[d]![name] : (otherwise?.[d] ?? 0)));
  const used = (all: readonly number[]) => (all.some((tile) => tile > 0) ? all : undefined);
  const cacheParallel = used(level('cache', false, c.cacheParallel));
  const cacheReduction = used(level('cache', true, c.cacheReduction));
  return {
    version: 1,
    kind: 'tile',
    distribution: level('distribution', false, c.distribution),
    ...(cacheParallel && { cacheParallel }),
    ...(cacheReduction && { cacheReduction }),
    vectorCommonParallel: level('vector', false, c.vectorCommonParallel),
    vectorReduction: level('vector', true, c.vectorReduction),
    // `vector_inner_parallel` has no effect on the root of a dispatch.
    peeling: c.peeling && !tiles.every(({ isEven }) => isEven),
  };
}
