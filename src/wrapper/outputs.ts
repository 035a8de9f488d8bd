// The output cache: a repeated compile copies the output and shows the messages of the first compile.
import { copyFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyOver, piecesOfFile } from '../system/bytes.ts';
import { OUTPUT_NOTES, OUTPUTS, pathIn } from '../system/cache.ts';
import { hasFields, isBoolean, isNumber, isText, optional, orNull } from '../system/data.ts';
import { settledIdentity } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { memoryOf } from '../system/memory.ts';
import { temporaryName } from '../system/scratch.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { hasColours, writeAll } from './messages.ts';

/** Largest size of all outputs, in bytes. The least recently used outputs are removed first. */
export const OUTPUTS_LIMIT = 2 * 2 ** 30;

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
 * Stores an output.
 * @param input digest of the input
 * @param file is moved into the cache
 * @param messages of its compile
 * @returns whether it was stored
 */
export function keepOutput(
  cacheDirectory: string,
  { identity, input }: { readonly identity: string; readonly input: string },
  file: string,
  messages: Uint8Array,
  env: Surroundings['env'],
): boolean {
  if (messages.length > LONGEST_MESSAGES) return false;
  try {
    const bytes = statSync(file).size;
    if (bytes > OUTPUTS_LIMIT) return false;
    const sum = checksum();
    for (const piece of piecesOfFile(file)) sum.add(piece);
    const path = fileOf(cacheDirectory, identity);
    makeFolder(dirname(path), 0o700);
    move(file, path);
    const shown = messages.length > 0 && {
      messages: Buffer.from(messages).toString('latin1'),
      hasColours: hasColours(env),
    };
    notes.remember(cacheDirectory, { identity, input, checksum: sum.value(), settled: null, ...shown });
    trim(cacheDirectory, OUTPUTS_LIMIT);
    return true;
  } catch {
    return false;
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // The cache is on another file system.
    const between = temporaryName(to);
    copyFileSync(from, between);
    renameSync(between, to);
  }
}

/** All outputs, the least recently used first. */
function keptOutputs(cacheDirectory: string): { path: string; bytes: number; usedMs: number }[] {
  const folder = dirname(pathIn(cacheDirectory, OUTPUTS));
  try {
    return readdirSync(folder)
      .filter((name) => /^output-[0-9a-f]+\.bin$/.test(name))
      .map((name) => {
        const path = join(folder, name);
        const note = statSync(path.replace(/bin$/, 'json'), { throwIfNoEntry: false });
        return { path, bytes: statSync(path).size, usedMs: note?.mtimeMs ?? 0 };
      })
      .sort((a, b) => a.usedMs - b.usedMs);
  } catch {
    return [];
  }
}

/** Number and size of all outputs. */
export function outputsIn(cacheDirectory: string): { readonly count: number; readonly bytes: number } {
  const kept = keptOutputs(cacheDirectory);
  return { count: kept.length, bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Removes the least recently used outputs until the rest fits into `limit` bytes. */
export function trim(cacheDirectory: string, limit: number): void {
  const kept = keptOutputs(cacheDirectory);
  let left = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of kept) {
    if (left <= limit) return;
    rmSync(path, { force: true });
    left -= bytes;
  }
}
