// Sizes of tiles along one dimension.

/** The smallest multiple of `step` that is at least `size`. */
export const roundUp = (size: number, step: number): number => Math.ceil(size / step) * step;

/** Divisors of `size` from `least` to `most`, smallest first. `most` bounds the work, because sizes have no bound. */
export function divisors(size: number, least: number, most: number): number[] {
  const found: number[] = [];
  for (let d = Math.max(1, Math.ceil(least)); d <= Math.min(size, most); d++)
    if (size % d === 0) found.push(d);
  return found;
}

/** Powers of two from 1 up to `most`. */
export const powers = (most: number): number[] =>
  Array.from({ length: Math.floor(Math.log2(Math.max(1, most))) + 1 }, (_, i) => 2 ** i);

export const isPowerOfTwo = (size: number): boolean => Number.isInteger(Math.log2(size));
