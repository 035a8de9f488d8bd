// Names for contents. Not cryptographic: nobody gains by fooling himself, and loading node:crypto takes longer than
// everything else that a hit does here.
import xxhash from 'xxhash-wasm';

export type Digest = (bytes: Uint8Array) => string;

/** Makes a function that gives 32 hexadecimal digits, different for different bytes as good as always. */
export async function createDigest(): Promise<Digest> {
  const hasher = await xxhash();
  const hex = (value: bigint) => value.toString(16).padStart(16, '0');
  return (bytes) => hex(hasher.h64Raw(bytes, 0n)) + hex(hasher.h64Raw(bytes, 0x9e3779b97f4a7c15n));
}
