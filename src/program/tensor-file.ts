// Tensors in files that a value of `--input=` names: raw elements, or NumPy's format, which has the type itself.
import { closeSync, openSync, readSync } from 'node:fs';
import { tensorBytes, type RuntimeType } from '../input/runtime-type.ts';

/** A value of `--input=` that names a file: `4x8xf32=@PATH`, or `@PATH` for NumPy's format. */
export interface FileValue {
  /** Text before the sign: `4x8xf32=`, or empty. */
  readonly prefix: string;
  /** `+` goes on where the last value with this file ended. */
  readonly sign: '@' | '+';
  readonly path: string;
}

/** Null for a value without a file, such as a scalar. */
export function fileValue(value: string): FileValue | null {
  const [, prefix, sign, path] = /^([^@+=]*=|)([@+])(.+)$/s.exec(value) ?? [];
  return path === undefined ? null : { prefix: prefix!, sign: sign as FileValue['sign'], path };
}

/** A tensor in a file. */
export interface TensorFile extends RuntimeType {
  readonly shape: readonly number[];
  /** Where its elements begin in the file. */
  readonly begin: number;
  readonly bytes: number;
}

/** The type of a value such as `4x8xf32=1 2 3` or `4x8xf32`; null for a scalar or another text. */
export function typeIn(value: string): (RuntimeType & { readonly shape: readonly number[] }) | null {
  const [, sizes, elementType] = /^((?:\d+x)*)([a-z]\w*)(?:=|$)/.exec(value) ?? [];
  if (elementType === undefined) return null;
  return { shape: sizes!.split('x').slice(0, -1).map(Number), elementType };
}

/**
 * The tensor that a file has at a place; null for a type or a format that is not known.
 * @throws errors of the file system
 */
export function tensorIn({ prefix, path }: FileValue, at = 0): TensorFile | null {
  if (prefix !== '') {
    const type = typeIn(prefix);
    return type && { ...type, begin: at, bytes: tensorBytes(type) };
  }
  const head = bytesAt(path, at, HEAD);
  if (head.toString('latin1', 0, 6) !== '\x93NUMPY') return null;
  const begin = head[6] === 1 ? 10 : 12;
  const length = begin === 10 ? head.readUInt16LE(8) : head.readUInt32LE(8);
  const description = bytesAt(path, at + begin, length).toString('latin1');
  const [, kind, size] = /'descr': *'[<|=]?([a-z])(\d+)'/.exec(description) ?? [];
  const [, sizes = ''] = /'shape': *\(([^)]*)\)/.exec(description) ?? [];
  const letter = NUMPY_KINDS[kind ?? ''];
  if (letter === undefined) return null;
  const shape = sizes
    .split(',')
    .filter((one) => one.trim() !== '')
    .map(Number);
  const type = { shape, elementType: kind === 'b' ? 'i1' : `${letter}${8 * Number(size)}` };
  return { ...type, begin: at + begin + length, bytes: tensorBytes(type) };
}

/** Our element types by NumPy's. */
const NUMPY_KINDS: Readonly<Record<string, string>> = { f: 'f', i: 'i', u: 'ui', b: 'i' };

/** Bytes that have the length of NumPy's header. */
const HEAD = 12;

/** Bytes of a file; fewer at its end. @throws errors of the file system */
export function bytesAt(path: string, at: number, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  } finally {
    closeSync(file);
  }
}

/**
 * The elements of a tensor in pieces. All pieces share one buffer.
 * @param piece bytes of each piece but the last one
 * @throws errors of the file system; an Error for a file that is too short
 */
export function* piecesIn(
  path: string,
  { begin, bytes }: Pick<TensorFile, 'begin' | 'bytes'>,
  piece: number,
): Generator<Uint8Array> {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(piece, bytes));
    for (let done = 0; done < bytes;) {
      const wanted = Math.min(piece, bytes - done);
      const length = readSync(file, buffer, 0, wanted, begin + done);
      if (length < wanted)
        throw new Error(`${path} has ${begin + done + length} bytes, too few for its type`);
      yield buffer.subarray(0, length);
      done += length;
    }
  } finally {
    closeSync(file);
  }
}
