// Tile sizes of GPU pipelines.

/** Divisors of `size` up to `most`, smallest first. */
export const divisors = (size: number, most: number): number[] =>
  Array.from({ length: Math.min(size, most) }, (_, i) => i + 1).filter((tile) => size % tile === 0);

/** Powers of two from 1 up to `most`. */
export const powers = (most: number): number[] =>
  Array.from({ length: Math.floor(Math.log2(Math.max(1, most))) + 1 }, (_, i) => 2 ** i);

export const isPowerOfTwo = (size: number): boolean => Number.isInteger(Math.log2(size));

/** Tiles of one side of a product, along its innermost dimension and the next outer dimension. */
export interface Side {
  readonly tile: number;
  readonly count: number;
  readonly outerTile: number;
  readonly outerCount: number;
}

/**
 * Divides `tiles` tiles among `count` owners. If the innermost dimension is too short, the next outer dimension gets the rest.
 * @param fitting number of tiles along the innermost dimension; a power of two, like the other numbers
 * @param hasOuter whether there is a next outer dimension; without it the rest is dropped
 */
export function sideOf(tiles: number, count: number, fitting: number, hasOuter: boolean): Side {
  const inner = Math.max(1, Math.min(tiles, fitting));
  const innerCount = Math.min(count, inner);
  const rest = hasOuter ? Math.max(1, tiles / inner) : 1;
  const outerCount = Math.min(count / innerCount, rest);
  return { tile: inner / innerCount, count: innerCount, outerTile: rest / outerCount, outerCount };
}
