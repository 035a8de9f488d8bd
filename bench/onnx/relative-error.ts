// How far results are from a peer's. Pure.
import { decodeElements, type Elements } from '../../src/measure/elements.ts';

/**
 * The largest difference of two elements, relative to the peer's largest: max|a - b| / max|b|. An element alone may be what is
 * left of larger ones that cancel each other, so none is compared with itself.
 * @param ours raw bytes of a result
 * @param peers those of the peer's
 * @returns Infinity when they cannot be compared: other sizes, NaN on either side, or elements that nobody can decode
 */
export function relativeError(ours: Uint8Array, peers: Uint8Array, elementType: string): number {
  if (Buffer.compare(ours, peers) === 0) return 0;
  // Copies: a slice of Node's own buffers would be a part of a pool of them.
  const [a, b] = [ours, peers].map((bytes) => decodeElements(new Uint8Array(bytes), elementType)) as [
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
