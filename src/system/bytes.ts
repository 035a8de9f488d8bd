// Whole inputs as bytes, and back. Models with their weights in the text can be larger than one call reads or writes.
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/** Most bytes in one call: the system takes no more than 2 GiB. */
const PIECE = 2 ** 30;

/**
 * All bytes of a file.
 * @throws the error of the file system
 */
export function readBytes(path: string, piece = PIECE): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const status = fstatSync(file);
    // A pipe or a device does not know its size.
    if (!status.isFile() || status.size <= piece) return readFileSync(file);
    const bytes = new Uint8Array(status.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, Math.min(piece, bytes.length - length), null);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

const chunks: Buffer[] = [];

/** What was read of stdin so far, and is gone for everybody else; undefined when nobody has read it. */
export const takenStdin = (): Uint8Array | undefined =>
  chunks.length === 0 ? undefined : Buffer.concat(chunks);

/** All of stdin, blocking; a terminal or a pipe may hand it over in pieces. Called once. */
export function readStdin(): Uint8Array {
  for (;;) {
    const chunk = Buffer.allocUnsafe(1 << 16);
    let length: number;
    try {
      length = readSync(0, chunk);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EOF') break;
      if (code !== 'EAGAIN') throw error;
      // A non-blocking pipe without data yet.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      continue;
    }
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
  }
  return Buffer.concat(chunks);
}

/** Bytes in pieces that one call can take, without copying them. */
export function* piecesOf(bytes: Uint8Array, piece = PIECE): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += piece) yield bytes.subarray(start, start + piece);
}

/**
 * Writes a file from slices, one after the other.
 * @throws the error of the file system
 */
export function writeSlices(path: string, slices: Iterable<Uint8Array>): void {
  const file = openSync(path, 'w');
  try {
    for (const slice of slices)
      for (const piece of piecesOf(slice))
        for (let offset = 0; offset < piece.length;) offset += writeSync(file, piece, offset);
  } finally {
    closeSync(file);
  }
}
