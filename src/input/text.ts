// Reads the input. A large file is read in pieces, and only its text without weights stays in memory.
import { readFileSync, statSync } from 'node:fs';
import { isBytecode } from 'mlir-parser-ts';
import { INPUTS } from '../system/cache.ts';
import { piecesOf, piecesOfFile, readStdin } from '../system/bytes.ts';
import { hasFields, isBoolean, isText, listOf, optional } from '../system/data.ts';
import { createDigest } from '../system/digest.ts';
import { fileState, settled, type FileState } from '../system/files.ts';
import { isParsable } from '../system/heap.ts';
import { memoryOf } from '../system/memory.ts';
import { memoryBytes } from '../system/processor.ts';
import { compactor, type Compacted, type Cut } from './compact.ts';

/** An input without weights. */
export interface InputText extends Compacted {
  /** Digest of all bytes. */
  readonly digest: string;
  /** State of the file before the read; null for stdin. */
  readonly file: FileState | null;
  /** All bytes of stdin; absent if `bytes` has all. */
  readonly stdin?: Uint8Array;
  /** Whether the memory has room for only one compile of this input at a time. */
  readonly isHuge: boolean;
}

/** In bytes. Larger inputs are read in pieces. */
const LARGE_BYTES = 2 ** 26;

/** Most bytes of text in memory. The compiler needs memory for several copies of the text. */
export const mostText = (): number => Math.max(2 ** 28, memoryBytes() / 4);

/**
 * Largest input of which several compiles run at once, in bytes of text. One compile takes about as much memory as its weights as text,
 * which is twice their size in bytecode or in a parameter file (IREE 3.13.0).
 */
const mostForTwo = (): number => memoryBytes() / 8;

/** Bytes of stdin that are compacted at once. */
const STDIN_PIECE = 2 ** 20;

/** In bytes. Longer texts are not remembered. */
const LONGEST_NOTE = 2 ** 24;

/** A note about a large input without weights, so that the file is read only once. */
interface InputNote {
  /** Path of the file. */
  readonly identity: string;
  /** `settledIdentity` of the file before it was read. */
  readonly settled: string;
  readonly digest: string;
  /** In latin1: one character for each byte. */
  readonly text: string;
  readonly isWhole: boolean;
  readonly cuts: readonly Cut[];
}

const notes = memoryOf(
  INPUTS,
  hasFields<InputNote>({
    ...{ identity: isText, settled: isText, digest: isText, text: isText, isWhole: isBoolean },
    cuts: listOf(
      hasFields<Cut>({
        offset: Number.isSafeInteger,
        digits: Number.isSafeInteger,
        digest: optional(isText),
      }),
    ),
  }),
);

/**
 * Reads an input.
 * @param path null for stdin
 * @param largeBytes inputs of this size or larger are read in pieces, and so are inputs that the heap has no room for
 * @param besideBytes size of other files that a compile reads, such as parameters
 * @returns null if the text without weights is too large
 * @throws the error of the file system; an Error if the file changes during the read
 */
export async function readInput(
  path: string | null,
  cacheDirectory: string,
  largeBytes = LARGE_BYTES,
  besideBytes = 0,
): Promise<InputText | null> {
  const digestOf = await createDigest();
  const stdin = path === null ? readStdin() : undefined;
  const file = path === null ? null : fileState(path);
  const size = stdin?.length ?? statSync(path!).size;
  const found = ({ bytes, isWhole, cuts, digest }: Compacted & Pick<InputText, 'digest'>): InputText => {
    const textBytes = (isBytecode(bytes) ? 2 : 1) * size + 2 * besideBytes;
    const isHuge = textBytes > mostForTwo();
    return { bytes, isWhole, cuts, digest, file, isHuge, ...(stdin && !isWhole && { stdin }) };
  };
  if (size < largeBytes && isParsable(size)) {
    const bytes = stdin ?? readFileSync(path!);
    return found({ bytes, isWhole: true, cuts: [], digest: digestOf([bytes]) });
  }
  const known = path === null ? null : notes.recall(cacheDirectory, path);
  if (known !== null && known.settled === settled(file))
    return found({ ...known, bytes: Buffer.from(known.text, 'latin1') });
  const rest = compactor(mostText());
  const pieces = stdin === undefined ? piecesOfFile(path!) : piecesOf(stdin, STDIN_PIECE);
  const digest = digestOf(seenBy(rest.add, pieces));
  const compacted = rest.compacted();
  if (compacted === null || !isParsable(compacted.bytes.length)) return null;
  if (path !== null && file?.isSettled === true && compacted.bytes.length <= LONGEST_NOTE) {
    const { bytes, ...others } = compacted;
    const text = Buffer.from(bytes).toString('latin1');
    notes.remember(cacheDirectory, { ...others, identity: path, settled: file.identity, digest, text });
  }
  // Without a second copy of a text without weights.
  return found({ ...compacted, ...(stdin && compacted.isWhole && { bytes: stdin }), digest });
}

function* seenBy(look: (piece: Uint8Array) => void, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) {
    look(piece);
    yield piece;
  }
}
