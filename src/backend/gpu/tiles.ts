// Tile sizes of GPU pipelines.

/** Divisors of `size` up to `most`, smallest first. */
export const divisors = (size: number, most: number): number[] =>
  Array.from({ length: Math.min(size, most) }, (_, i) => i + 1).filter((tile) => size % tile === 0);

/** Powers of two from 1 up to `most`. */
export const powers = (most: number): number[] =>
  Array.from({ length: Math.floor(Math.log2(Math.max(1, most))) + 1 }, (_, i) => 2 ** i);

/** Tiles of one side of a product, along its innermost dimension and the next one. */
export interface Side {
  readonly tile: number;
  readonly count: number;
  readonly outerTile: number;
  readonly outerCount: number;
}

/**
 * Divides `tiles` tiles over `count` owners. An innermost dimension that is too short for all leaves the rest to the next one.
 * @param fitting how many tiles the innermost dimension has; powers of two, as the others are
 * @param hasOuter whether there is a next dimension; else the rest is left out
 */
export function sideOf(tiles: number, count: number, fitting: number, hasOuter: boolean): Side {
  const inner = Math.max(1, Math.min(tiles, fitting));
  const innerCount = Math.min(count, inner);
  const rest = hasOuter ? Math.max(1, tiles / inner) : 1;
  const outerCount = Math.min(count / innerCount, rest);
  return { tile: inner / innerCount, count: innerCount, outerTile: rest / outerCount, outerCount };
}
