// Files and stdin as bytes. Models with their weights in the text can be larger than the memory, and than one call reads or writes.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** Most bytes in one call: the system takes no more than 2 GiB. */
const PIECE = 2 ** 30;

/** Bytes of a file at a time. */
const FILE_PIECE = 2 ** 20;

/**
 * All bytes of a file in pieces, which share their memory: each is gone with the next one.
 * @throws the error of the file system; an Error if the file changes meanwhile
 */
export function* piecesOfFile(path: string, piece = FILE_PIECE): Generator<Uint8Array> {
  const file = openSync(path, 'r');
  try {
    const state = () => fstatSync(file, { bigint: true });
    const before = state();
    const buffer = new Uint8Array(piece);
    let left = Number(before.size);
    for (let length; (length = readSync(file, buffer, 0, Math.min(piece, left), null)) > 0; left -= length)
      yield buffer.subarray(0, length);
    const { size, mtimeNs, ctimeNs } = state();
    if (left > 0 || size !== before.size || mtimeNs !== before.mtimeNs || ctimeNs !== before.ctimeNs)
      throw new Error(`${path} changes while it is read`);
  } finally {
    closeSync(file);
  }
}

/** The first bytes of a copy are written last. */
const HEAD = 4096;

/**
 * Copies a file over another one, whose mode and links stay; a new file gets the default mode. Blocks of the old file are used again:
 * to free them and take others takes three times as long. Until the copy is whole it begins with zeros, so that nothing takes a mixture
 * of two modules for one.
 * @param check looks at each piece, and says in the end whether the copy is right
 * @returns what `check` says
 * @throws the error of the file system
 */
export function copyOver(
  from: string,
  to: string,
  check: { readonly add: (piece: Uint8Array) => void; readonly isRight: () => boolean } = UNCHECKED,
): boolean {
  const file = openSync(to, constants.O_WRONLY | constants.O_CREAT, 0o666);
  try {
    let head = new Uint8Array();
    let length = 0;
    for (const piece of piecesOfFile(from)) {
      check.add(piece);
      if (length === 0) {
        head = piece.slice(0, HEAD);
        piece.fill(0, 0, HEAD);
      }
      writeAll(file, piece, length);
      length += piece.length;
    }
    ftruncateSync(file, length);
    if (!check.isRight()) return false;
    writeAll(file, head, 0);
    return true;
  } finally {
    closeSync(file);
  }
}

const UNCHECKED = { add: () => undefined, isRight: () => true };

/** @param position in the file; null for where the last write ended */
function writeAll(file: number, bytes: Uint8Array, position: number | null = null): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position === null ? null : position + done);
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
    for (const slice of slices) for (const piece of piecesOf(slice)) writeAll(file, piece);
  } finally {
    closeSync(file);
  }
}
