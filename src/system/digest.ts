// Names for contents. Not cryptographic: nobody gains by fooling himself, and loading node:crypto takes longer than
// everything else that a hit does here.
import xxhash from 'xxhash-wasm';
import { piecesOf } from './bytes.ts';

/** Of one content in slices. */
export type Digest = (slices: Iterable<Uint8Array>) => string;

/** Bytes at a time: each piece is copied into the memory of the hash function, which holds 4 GiB at most. */
const PIECE = 2 ** 22;

let made: Promise<Digest> | undefined;

/** A function that gives 32 hexadecimal digits, different for different bytes as good as always; made once. */
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
