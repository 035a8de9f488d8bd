// Relative error of a result against a peer's result. Pure.
import { decodeElements, type Elements } from '../../src/measure/elements.ts';

/**
 * Largest difference of two elements, relative to the peer's largest element: max|a - b| / max|b|. An element may be the small difference
 * of large values, so errors are not relative to single elements.
 * @param ours raw bytes of a result
 * @param peers raw bytes of the peer's result
 * @returns Infinity for different sizes, a NaN on either side, or an unknown element type
 */
export function relativeError(ours: Uint8Array, peers: Uint8Array, elementType: string): number {
  if (Buffer.compare(ours, peers) === 0) return 0;
  const [a, b] = [ours, peers].map((bytes) => decodeElements(bytes, elementType)) as [
    Elements | null,
    Elements | null,
  ];
  if (a === null || b === null || a.length !== b.length) return Infinity;
  let largest = 0;
  let error = 0;
  for (let i = 0; i < b.length; i++) {
    const difference = Math.abs(Number(a[i]) - Number(b[i]));
    if (Number.isNaN(difference)) return Infinity;
    error = Math.max(error, difference);
    largest = Math.max(largest, Math.abs(Number(b[i])));
  }
  return error === 0 ? 0 : error / largest;
}
