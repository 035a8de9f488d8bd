// Divides the work of a run between machines.

/** A shard by its number from 1, and the number of shards. */
export interface Shard {
  readonly number: number;
  readonly count: number;
}

/**
 * The units of a shard, in their order. Units with one key share a shard.
 * @param keyOf key of a unit; only the order of the keys counts, so they may have a common beginning that differs between machines
 */
export function unitsOfShard<T>(
  units: readonly T[],
  keyOf: (unit: T) => string,
  { number, count }: Shard,
): T[] {
  // Slices of the sorted keys are even. A new unit moves at most one other across each boundary, so a shard's caches stay useful.
  // Neighbours by name often have shapes in common, which one shard tunes once.
  const keys = [...new Set(units.map(keyOf))].toSorted();
  const own = new Set(keys.filter((_, i) => Math.floor((i * count) / keys.length) === number - 1));
  return units.filter((unit) => own.has(keyOf(unit)));
}
