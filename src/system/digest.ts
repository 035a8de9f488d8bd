// Digests of contents. Not cryptographic: users can only fool themselves, and loading node:crypto takes longer than the rest of a hit.
import xxhash from 'xxhash-wasm';
import { piecesOf } from './bytes.ts';

/** The digest of one content in slices. */
export type Digest = (slices: Iterable<Uint8Array>) => string;

/** Bytes in one update: the hash function copies them into its memory of at most 4 GiB. */
const PIECE = 2 ** 22;

let made: Promise<Digest> | undefined;

/** A function that returns 32 hexadecimal digits (two xxHash64 with different seeds). Created once. */
export const createDigest = (): Promise<Digest> => (made ??= make());

async function make(): Promise<Digest> {
  const hasher = await xxhash();
  return (slices) => {
    const states = [hasher.create64(0n), hasher.create64(0x9e3779b97f4a7c15n)];
    for (const slice of slices)
      for (const piece of piecesOf(slice, PIECE)) for (const state of states) state.update(piece);
    return states.map((state) => state.digest().toString(16).padStart(16, '0')).join('');
  };
}
