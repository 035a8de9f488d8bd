// Cuts the weights out of a large input. Pure.
import { bufferOf } from '../system/bytes.ts';
import { isBytecode, lineIndex, type Location } from 'mlir-parser-ts';

/** Digits that were cut out of a text. */
export interface Cut {
  /** Byte offset of the cut in the compacted text. */
  readonly offset: number;
  readonly digits: number;
  /** Digest of the digits, if the caller asked for it. */
  readonly digest?: string;
}

/** An input without weights. */
export interface Compacted {
  /** Text with long literals shortened. For bytecode, its head and its names of the dialect `hal`. */
  readonly bytes: Uint8Array;
  /** Whether nothing was cut. */
  readonly isWhole: boolean;
  /** In the order of the text. Empty for bytecode. */
  readonly cuts: readonly Cut[];
}

/** Compacts an input piece by piece. */
export interface Compactor {
  /** @param piece may be overwritten afterwards */
  readonly add: (piece: Uint8Array) => void;
  /** The compacted input; null if it exceeds the limit. */
  readonly compacted: () => Compacted | null;
}

/** Digits of a literal that stay. Literals whose values influence code are shorter. */
const KEPT_DIGITS = 1024;

/** A digest of bytes that come in pieces. */
interface PieceDigest {
  readonly update: (piece: Uint8Array) => unknown;
  readonly digest: (encoding: 'hex') => string;
}

/**
 * @param mostBytes limit of the compacted input
 * @param newDigest begins the digest of a cut of text; absent for cuts without digests
 */
export function compactor(mostBytes: number, newDigest?: () => PieceDigest): Compactor {
  let own: Compactor | undefined;
  return {
    add(piece) {
      own ??= isBytecode(piece) ? ofBytecode(mostBytes) : ofText(mostBytes, newDigest);
      own.add(piece);
    },
    compacted: () => own?.compacted() ?? null,
  };
}

/** Collects bytes, at most `most` of them in memory. */
function collect(most: number) {
  const kept: Uint8Array[] = [];
  let length = 0;
  return {
    get length() {
      return length;
    },
    keep(bytes: Uint8Array) {
      length += bytes.length;
      if (length <= most) kept.push(Buffer.from(bytes));
      else kept.length = 0;
    },
    all: () => (length > most ? null : Buffer.concat(kept)),
  };
}

/** Start of a hexadecimal literal, in attributes and in resources. */
const LITERAL = Buffer.from('"0x');

const IS_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => +/[\da-f]/i.test(String.fromCharCode(byte)));

function ofText(mostBytes: number, newDigest?: () => PieceDigest): Compactor {
  const kept = collect(mostBytes);
  const cuts: Cut[] = [];
  /** Matched characters of `LITERAL`: all of them inside a literal. */
  let matched = 0;
  /** Digits of the current literal so far. */
  let digits = 0;
  let digest: PieceDigest | undefined;

  const endLiteral = () => {
    if (digits > KEPT_DIGITS)
      cuts.push({
        ...{ offset: kept.length, digits: digits - KEPT_DIGITS },
        ...(digest && { digest: digest.digest('hex') }),
      });
    matched = digits = 0;
    digest = undefined;
  };
  return {
    add(piece) {
      const bytes = bufferOf(piece);
      /** Offset of the first byte that is not kept yet. */
      let from = 0;
      for (let at = 0; at < bytes.length;) {
        if (matched < LITERAL.length) {
          if (matched === 0) at = bytes.indexOf(LITERAL[0]!, at);
          if (at < 0) break;
          matched = bytes[at] === LITERAL[matched] ? matched + 1 : +(bytes[at] === LITERAL[0]);
          at++;
          continue;
        }
        const start = at;
        while (at < bytes.length && IS_DIGIT[bytes[at]!] === 1) at++;
        const staying = Math.min(at, start + Math.max(0, KEPT_DIGITS - digits));
        digits += at - start;
        if (staying < at) {
          kept.keep(bytes.subarray(from, staying));
          digest ??= newDigest?.();
          digest?.update(bytes.subarray(staying, at));
          from = at;
        }
        if (at < bytes.length) endLiteral();
      }
      if (from < bytes.length) kept.keep(bytes.subarray(from));
    },
    compacted() {
      endLiteral();
      const all = kept.all();
      return all && { bytes: all, isWhole: cuts.length === 0, cuts };
    },
  };
}

const BYTECODE_HEAD = 64;

/** Bytes that are kept of each name in bytecode. */
const NAME_BYTES = 32;

function ofBytecode(mostBytes: number): Compactor {
  const kept = collect(mostBytes);
  /** The end of the last piece. A name in it may continue in the next piece. */
  let rest = new Uint8Array();
  const keepNames = (bytes: Buffer, end: number) => {
    for (let at = bytes.indexOf('hal.'); at >= 0 && at < end; at = bytes.indexOf('hal.', at + 1))
      kept.keep(bytes.subarray(at, at + NAME_BYTES));
  };
  return {
    add(piece) {
      if (kept.length === 0) kept.keep(piece.subarray(0, BYTECODE_HEAD));
      const bytes = Buffer.concat([rest, piece]);
      const end = Math.max(0, bytes.length - NAME_BYTES);
      keepNames(bytes, end);
      rest = Uint8Array.prototype.slice.call(bytes, end);
    },
    compacted() {
      keepNames(Buffer.from(rest), rest.length);
      const all = kept.all();
      return all && { bytes: all, isWhole: false, cuts: [] };
    },
  };
}

/** Maps byte offsets in the compacted text to lines and columns in the input. */
export function placesIn({ bytes, cuts }: Pick<Compacted, 'bytes' | 'cuts'>): (offset: number) => Location {
  const lines = lineIndex(bytes);
  return (offset) => {
    const { line, column } = lines.locate(offset);
    // Literals have no line breaks.
    const before = cuts.filter((cut) => cut.offset > offset - column && cut.offset <= offset);
    return { line, column: before.reduce((sum, { digits }) => sum + digits, column) };
  };
}
