// Candidate tile sizes along one dimension: the few sizes that suit hardware and divisibility.

import { LARGEST_TILE } from '../schema.ts';

const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/** Each size once, smallest first. */
export const ascending = (values: Iterable<number>) => [...new Set(values)].sort((a, b) => a - b);

/** Divisors of `size` from `least` to `most`. `most` bounds the work, because sizes have no bound. */
export function divisors(size: number, least: number, most: number): number[] {
  const found: number[] = [];
  for (let d = Math.max(1, Math.ceil(least)); d <= Math.min(size, most); d++)
    if (size % d === 0) found.push(d);
  return found;
}

/** The smallest multiple of `step` that is at least `size`. */
export const roundUp = (size: number, step: number): number => Math.ceil(size / step) * step;

/** Rows of the register tile: small counts, and divisors, which leave no remainder. */
export function rowTiles(size: number): number[] {
  const common = [1, 2, 4, 6, 8, 12, 14, 16];
  return ascending([...common, ...divisors(size, 1, 16)].filter((tile) => tile <= size));
}

/** Columns of the register tile, the dimension of vectors: multiples of the `lanes` in one register. */
export function laneTiles(size: number, lanes: number): number[] {
  const common = [0.5, 1, 2, 3, 4, 8, 16].map((factor) => factor * lanes);
  const dividing = divisors(size, lanes / 4, 4 * lanes);
  return ascending(
    [...common, ...dividing, ...(size < lanes ? [size] : [])].filter(
      (t) => t >= 1 && t <= roundUp(size, lanes),
    ),
  );
}

/** Steps of the innermost reduction. `lanes` matters if the vectors lie along the reduction. */
export function reductionTiles(size: number): number[] {
  return ascending([1, 2, 4, 8, 16, 32, 64, 128, ...divisors(size, 1, 16)].filter((tile) => tile <= size));
}

/** Tiles of one workgroup: powers of two, multiples of 96 (for kernels of 6 and 12 rows), and the whole dimension. */
export function workgroupTiles(size: number): number[] {
  const whole = size > 16 ? roundUp(size, 16) : size;
  const inner = [...POWERS.filter((p) => p >= 16), 48, 96, 192, 384, 768].filter((tile) => tile < size);
  return ascending([...inner, size, ...(whole <= 2 * size ? [whole] : [])].filter((t) => t <= LARGEST_TILE));
}

/** Blocks for a cache; 0 leaves the level out. */
export function cacheTiles(size: number): number[] {
  return [0, ...[32, 64, 96, 128, 192, 256, 512].filter((tile) => tile < size)];
}

/** Blocks for rows of a matrix that is read once: a few rows at a time, in long contiguous reads. */
export function streamedTiles(size: number): number[] {
  const [none, ...blocks] = cacheTiles(size);
  return [none!, ...[8, 16].filter((tile) => tile < size), ...blocks];
}

/** Batch entries of one workgroup. */
export function batchTiles(size: number): number[] {
  return ascending([1, 2, 4, 8, 16, size].filter((tile) => tile <= Math.min(size, LARGEST_TILE)));
}
