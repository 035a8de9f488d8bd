// The input as it is read: a large one in pieces, of which only the text beside the weights stays in the memory.
import { readFileSync, statSync } from 'node:fs';
import { INPUTS } from '../system/cache.ts';
import { piecesOfFile, readStdin } from '../system/bytes.ts';
import { hasFields, isBoolean, isText, listOf } from '../system/data.ts';
import { createDigest } from '../system/digest.ts';
import { fileState, settled, type FileState } from '../system/files.ts';
import { memoryOf } from '../system/memory.ts';
import { memoryBytes } from '../system/processor.ts';
import { compactor, type Compacted, type Cut } from './compact.ts';

/** An input as far as it is looked at. */
export interface InputText extends Compacted {
  /** Names all of its bytes. */
  readonly digest: string;
  /** State of its file when it was read; null for stdin. */
  readonly file: FileState | null;
}

/** Larger files are read in pieces, in bytes. */
const LARGE_BYTES = 2 ** 26;

/** The compiler holds text more than once: it could lack memory beside more of ours, in bytes. */
const mostText = (): number => Math.max(2 ** 28, memoryBytes() / 4);

/** Longest text that is remembered, in bytes. */
const LONGEST_NOTE = 2 ** 24;

/** A large input, without its weights, so that it is read only once. */
interface InputNote {
  /** Path of the file. */
  readonly identity: string;
  /** `settledIdentity` of the file before it was read. */
  readonly settled: string;
  readonly digest: string;
  /** A character for each byte. */
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
 * @param largeBytes size from which on a file is read in pieces
 * @returns null if too much is left of it without its weights
 * @throws the error of the file system; an Error if the file changes meanwhile
 */
export async function readInput(
  path: string | null,
  cacheDirectory: string,
  largeBytes = LARGE_BYTES,
): Promise<InputText | null> {
  const digest = await createDigest();
  if (path === null || statSync(path).size < largeBytes) {
    const file = path === null ? null : fileState(path);
    const bytes = path === null ? readStdin() : readFileSync(path);
    return { bytes, isWhole: true, cuts: [], digest: digest([bytes]), file };
  }
  const file = fileState(path);
  const known = notes.recall(cacheDirectory, path);
  if (known !== null && known.settled === settled(file)) {
    const { text, isWhole, cuts } = known;
    return { bytes: Buffer.from(text, 'latin1'), isWhole, cuts, digest: known.digest, file };
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
  return { ...compacted, digest: name, file };
}

function* seenBy(look: (piece: Uint8Array) => void, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of pieces) {
    look(piece);
    yield piece;
  }
}
