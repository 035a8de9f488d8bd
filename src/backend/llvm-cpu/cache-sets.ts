// How data in rows fills the sets of a cache. Rows at a distance of a power of two share few sets, and evict each other from a cache
// that has room for all of them.

/** Bytes of a line. */
export const CACHE_LINE = 64;

/**
 * Lines that the fullest set of a cache holds.
 * @param run bytes of each row that are used
 * @param stride bytes from row to row
 * @param way bytes from a set to the same set: a power of two
 */
export function linesInSet(run: number, rows: number, stride: number, way: number): number {
  const step = powerIn(stride, way);
  const lines = Math.max(1, Math.ceil(run / CACHE_LINE));
  const places = Math.min(way / step, rows);
  const sets = Math.min(way / CACHE_LINE, places * Math.min(Math.max(1, step / CACHE_LINE), lines));
  return (lines * rows) / sets;
}

/** The largest power of two up to `most` that divides a number. */
export function powerIn(number: number, most: number): number {
  let power = 1;
  while (power < most && number % (2 * power) === 0) power *= 2;
  return power;
}
