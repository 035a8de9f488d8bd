// The output cache: a repeated compile copies the output and shows the messages of the first compile.
import { renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyOver, piecesOfFile } from '../system/bytes.ts';
import { OUTPUT_NOTES, OUTPUTS, pathIn } from '../system/cache.ts';
import { hasFields, isBoolean, isNumber, isText, optional, orNull } from '../system/data.ts';
import { namesIn, removeOldest, settledIdentity, type OldFile } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { memoryOf } from '../system/memory.ts';
import { resultOr } from '../system/result-or.ts';
import { replaceFile } from '../system/temporary-files.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { hasColours, writeAll } from './capture.ts';

/** Largest size of all outputs, in bytes. The least recently used outputs are removed first. */
export const OUTPUTS_LIMIT = 2 * 2 ** 30;

/** Bytes that outputs leave free on the disk of the cache, for its other files. */
const LEFT_FREE = 16 * 2 ** 20;

interface OutputNote {
  readonly identity: string;
  /** Digest of the input; left out by earlier versions. */
  readonly input?: string;
  /** CRC-32 of the content. */
  readonly checksum: number;
  /** `settledIdentity` of the file when its checksum was verified last. */
  readonly settled: string | null;
  /** Messages of the compile, a character for each byte; left out for none. */
  readonly messages?: string;
  /** Whether the messages have colours. */
  readonly hasColours?: boolean;
}

/** Longest messages, in bytes. An output with longer messages is not stored. */
const LONGEST_MESSAGES = 2 ** 16;

const notes = memoryOf(
  OUTPUT_NOTES,
  hasFields<OutputNote>({
    ...{ identity: isText, input: optional(isText), checksum: isNumber, settled: orNull(isText) },
    ...{ messages: optional(isText), hasColours: optional(isBoolean) },
  }),
);

/** The output, next to its note. */
const fileOf = (cacheDirectory: string, identity: string) =>
  notes.pathOf(cacheDirectory, identity).replace(/json$/, 'bin');

/** Adds up a CRC-32; `node:zlib` is loaded only here, because most hits do not need it. */
function checksum(expected = 0) {
  const { crc32 } = process.getBuiltinModule('node:zlib');
  let value = 0;
  return {
    add: (piece: Uint8Array) => void (value = crc32(piece, value)),
    value: () => value,
    isRight: () => value === expected,
  };
}

/**
 * Copies an output to the user's path, and shows the messages of its compile.
 * @returns false if there is no output, it is damaged, its messages have other colours than the terminal, or the copy fails
 */
export function fetchOutput(
  cacheDirectory: string,
  identity: string,
  output: string,
  env: Surroundings['env'],
): boolean {
  try {
    const note = notes.recall(cacheDirectory, identity);
    const { messages } = note ?? {};
    if (messages !== undefined && note!.hasColours !== hasColours(env)) return false;
    if (note === null || statSync(output, { throwIfNoEntry: false })?.isFile() === false) return false;
    const path = fileOf(cacheDirectory, identity);
    const settled = settledIdentity(path);
    const isSettled = settled !== null && settled === note.settled;
    if (!copyOver(path, output, isSettled ? undefined : checksum(note.checksum))) {
      rmSync(path, { force: true });
      return false;
    }
    // The time of the note is the last use of the output.
    notes.remember(cacheDirectory, { ...note, settled });
    if (messages !== undefined) writeAll(2, Buffer.from(messages, 'latin1'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Stores an output if there is room for it.
 * @param input digest of the input
 * @param file a file of ours is moved into the cache, and another file is copied
 * @param messages of its compile
 * @returns whether it was stored
 */
export function keepOutput(
  cacheDirectory: string,
  { identity, input }: { readonly identity: string; readonly input: string },
  { from, isOurs }: { readonly from: string; readonly isOurs: boolean },
  messages: Uint8Array,
  env: Surroundings['env'],
): boolean {
  if (messages.length > LONGEST_MESSAGES) return false;
  const path = fileOf(cacheDirectory, identity);
  try {
    makeFolder(dirname(path), 0o700);
    if (!makeRoom(cacheDirectory, statSync(from).size, isOurs)) return false;
    const sum = checksum();
    if (isOurs) {
      for (const piece of piecesOfFile(from)) sum.add(piece);
      renameSync(from, path);
    } else
      replaceFile(path, (copy) => {
        copyOver(from, copy, { add: sum.add, isRight: () => true });
      });
    const shown = messages.length > 0 && {
      messages: Buffer.from(messages).toString('latin1'),
      hasColours: hasColours(env),
    };
    notes.remember(cacheDirectory, { identity, input, checksum: sum.value(), settled: null, ...shown });
    return true;
  } catch {
    return false;
  }
}

/** Removes outputs for another one, whose bytes may lie on the cache's disk already. @returns whether there is room for it */
function makeRoom(cacheDirectory: string, bytes: number, isThere: boolean): boolean {
  const { bavail, bsize } = statfsSync(cacheDirectory);
  const limit = limitBeside(bytes, outputsIn(cacheDirectory).bytes, bavail * bsize + (isThere ? bytes : 0));
  if (limit >= 0) trim(cacheDirectory, limit);
  return limit >= 0;
}

/**
 * Largest size of all other outputs beside one of `bytes`; negative if there is no room for it.
 * @param kept size of the other outputs now
 * @param free bytes on the disk without them
 */
export const limitBeside = (bytes: number, kept: number, free: number): number =>
  Math.min(OUTPUTS_LIMIT, kept + free - LEFT_FREE) - bytes;

function keptOutputs(cacheDirectory: string): OldFile[] {
  const folder = dirname(pathIn(cacheDirectory, OUTPUTS));
  const kept = namesIn(folder).filter((name) => /^output-[0-9a-f]+\.bin$/.test(name));
  const read = (name: string): OldFile => {
    const path = join(folder, name);
    const note = statSync(path.replace(/bin$/, 'json'), { throwIfNoEntry: false });
    return { path, bytes: statSync(path).size, usedMs: note?.mtimeMs ?? 0 };
  };
  return resultOr(() => kept.map(read), []);
}

/** Number and size of all outputs. */
export function outputsIn(cacheDirectory: string): { readonly count: number; readonly bytes: number } {
  const kept = keptOutputs(cacheDirectory);
  return { count: kept.length, bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Removes the least recently used outputs until the rest fits into `limit` bytes. */
export const trim = (cacheDirectory: string, limit: number): void => {
  removeOldest(keptOutputs(cacheDirectory), limit);
};
