// Reads and writes files and stdin in pieces: a model with inline weights can exceed the memory, and the limit of one call.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** Bytes in one call. The system's limit is 2 GiB. */
const PIECE = 2 ** 30;

/** Bytes in one read of a file. */
const FILE_PIECE = 2 ** 20;

/**
 * The bytes of a file in pieces. All pieces share one buffer.
 * @throws errors of the file system; an Error if the file changes during the read
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

/** Number of bytes at the start of a copy that are written last. */
const HEAD = 4096;

/**
 * Overwrites a file with a copy of another. The mode and links of the old file stay; a new file gets the default mode. Reusing its blocks
 * is three times as fast as new blocks. Until the copy is complete it starts with zeros, so no reader accepts a mixture of two modules.
 * @param check receives each piece, and decides at the end whether the copy is right
 * @returns the decision of `check`
 * @throws errors of the file system
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

/** @param position in the file; null for the end of the last write */
function writeAll(file: number, bytes: Uint8Array, position: number | null = null): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position === null ? null : position + done);
}

/** Bytes of stdin that are read into one buffer. */
const STDIN_PIECE = 2 ** 20;

let stdin = Buffer.alloc(0);

/** Bytes that `readStdin` has consumed; undefined for none. */
export const takenStdin = (): Uint8Array | undefined => (stdin.length === 0 ? undefined : stdin);

/** Reads all of stdin, blocking. Call it once. This process keeps one copy. */
export function readStdin(): Uint8Array {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (let read = -1; read !== 0; length += read) {
      const filled = length % STDIN_PIECE;
      if (filled === 0) pieces.push(Buffer.allocUnsafe(STDIN_PIECE));
      read = readSome(pieces.at(-1)!.subarray(filled));
    }
  } finally {
    // After an error the compiler gets the same part.
    stdin = Buffer.concat(pieces, length);
  }
  return stdin;
}

/** Reads bytes of stdin. @returns their number; 0 at the end */
function readSome(room: Uint8Array): number {
  for (;;) {
    try {
      return readSync(0, room);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      // A non-blocking pipe without data yet.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

export function* piecesOf(bytes: Uint8Array, piece = PIECE): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += piece) yield bytes.subarray(start, start + piece);
}

/**
 * Writes slices to a file, one after the other.
 * @throws errors of the file system
 */
export function writeSlices(path: string, slices: Iterable<Uint8Array>): void {
  const file = openSync(path, 'w');
  try {
    for (const slice of slices) for (const piece of piecesOf(slice)) writeAll(file, piece);
  } finally {
    closeSync(file);
  }
}

/** Bytes as a buffer, without a copy. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
