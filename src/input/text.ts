// Reads the input. A large file is read in pieces, and only its text without weights stays in memory.
import { readFileSync, statSync } from 'node:fs';
import { INPUTS } from '../system/cache.ts';
import { piecesOfFile, readStdin } from '../system/bytes.ts';
import { hasFields, isBoolean, isText, listOf } from '../system/data.ts';
import { createDigest } from '../system/digest.ts';
import { fileState, settled, type FileState } from '../system/files.ts';
import { memoryOf } from '../system/memory.ts';
import { memoryBytes } from '../system/processor.ts';
import { compactor, type Compacted, type Cut } from './compact.ts';

/** An input without weights. */
export interface InputText extends Compacted {
  /** Digest of all bytes. */
  readonly digest: string;
  /** State of the file before the read; null for stdin. */
  readonly file: FileState | null;
  /** Whether the memory has room for only one compile of this input at a time. */
  readonly isHuge: boolean;
}

/** In bytes. Larger files are read in pieces. */
const LARGE_BYTES = 2 ** 26;

/** Most bytes of text in memory. The compiler needs memory for several copies of the text. */
const mostText = (): number => Math.max(2 ** 28, memoryBytes() / 4);

/** Largest input of which several compiles run at once, in bytes. One compile of weights as text takes two thirds of the text's size. */
const mostForTwo = (): number => memoryBytes() / 8;

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
    cuts: listOf(hasFields<Cut>({ offset: Number.isSafeInteger, digits: Number.isSafeInteger })),
  }),
);

/**
 * Reads an input.
 * @param path null for stdin
 * @param largeBytes files of this size or larger are read in pieces
 * @returns null if the text without weights is too large
 * @throws the error of the file system; an Error if the file changes during the read
 */
export async function readInput(
  path: string | null,
  cacheDirectory: string,
  largeBytes = LARGE_BYTES,
): Promise<InputText | null> {
  const digest = await createDigest();
  const size = path === null ? 0 : statSync(path).size;
  const isHuge = size > mostForTwo();
  if (path === null || size < largeBytes) {
    const file = path === null ? null : fileState(path);
    const bytes = path === null ? readStdin() : readFileSync(path);
    return { bytes, isWhole: true, cuts: [], digest: digest([bytes]), file, isHuge };
  }
  const file = fileState(path);
  const known = notes.recall(cacheDirectory, path);
  if (known !== null && known.settled === settled(file)) {
    const { text, isWhole, cuts } = known;
    return { bytes: Buffer.from(text, 'latin1'), isWhole, cuts, digest: known.digest, file, isHuge };
  }
  const rest = compactor(mostText());
  const name = digest(seenBy(rest.add, piecesOfFile(path)));
  const compacted = rest.compacted();
  if (compacted === null) return null;
  if (file?.isSettled === true && compacted.bytes.length <= LONGEST_NOTE) {
    const { bytes, ...others } = compacted;
    const text = Buffer.from(bytes).toString('latin1');
    notes.remember(cacheDirectory, { ...others, identity: path, settled: file.identity, digest: name, text });
  }
  return { ...compacted, digest: name, file, isHuge };
}

function* seenBy(look: (piece: Uint8Array) => void, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) {
    look(piece);
    yield piece;
  }
}
