// Outputs that are kept: the same compile again is a copy.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readBytes } from '../system/bytes.ts';
import { OUTPUT_NOTES, OUTPUTS, pathIn } from '../system/cache.ts';
import { settledIdentity } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { memoryOf } from '../system/memory.ts';
import { temporaryName } from '../system/scratch.ts';

/** All of them together take no more; what was asked for longest ago goes first. In bytes. */
export const OUTPUTS_LIMIT = 2 * 2 ** 30;

interface OutputNote {
  readonly identity: string;
  readonly bytes: number;
  /** CRC-32 of the content. */
  readonly checksum: number;
  /** What the file was when its content was read last; null where it could have changed without a trace. */
  readonly settled: string | null;
}

const notes = memoryOf(OUTPUT_NOTES, isOutputNote);

/** Beside its note, under the same name. */
const fileOf = (cacheDirectory: string, identity: string) =>
  notes.pathOf(cacheDirectory, identity).replace(/json$/, 'bin');

/** Loaded by whoever keeps outputs alone. */
const checksumOf = (bytes: Uint8Array): number => process.getBuiltinModule('node:zlib').crc32(bytes);

/**
 * Writes an output that is kept where the user wants it.
 * @returns whether it did: not where none is kept, it is damaged, or there is no room for it, say
 */
export function fetchOutput(cacheDirectory: string, identity: string, output: string): boolean {
  try {
    const note = notes.recall(cacheDirectory, identity);
    if (note === null || statSync(output, { throwIfNoEntry: false })?.isFile() === false) return false;
    const path = fileOf(cacheDirectory, identity);
    const settled = settledIdentity(path);
    if (settled === null || settled !== note.settled) {
      const bytes = readBytes(path);
      if (bytes.length !== note.bytes || checksumOf(bytes) !== note.checksum) {
        rmSync(path, { force: true });
        return false;
      }
    }
    copyInto(path, output);
    // It says as well when this was asked for last.
    notes.remember(cacheDirectory, { ...note, settled });
    return true;
  } catch {
    return false;
  }
}

/** Copies into what is there, with its rights and links, or a new file with the rights of one. */
function copyInto(path: string, output: string): void {
  // Made as everybody makes files, where there is none yet.
  closeSync(openSync(output, 'a'));
  const { mode } = statSync(output);
  copyFileSync(path, output);
  chmodSync(output, mode & 0o7777);
}

/**
 * Keeps an output.
 * @param file holds it, and may be gone afterwards
 * @returns whether it is kept
 */
export function keepOutput(cacheDirectory: string, identity: string, file: string): boolean {
  try {
    const bytes = readBytes(file);
    if (bytes.length > OUTPUTS_LIMIT) return false;
    const path = fileOf(cacheDirectory, identity);
    makeFolder(dirname(path));
    move(file, path);
    const checksum = checksumOf(bytes);
    notes.remember(cacheDirectory, { identity, bytes: bytes.length, checksum, settled: null });
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
    // On another disk.
    const between = temporaryName(to);
    copyFileSync(from, between);
    renameSync(between, to);
  }
}

/** Outputs that are kept, the one that was asked for longest ago first. */
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

/** How many outputs are kept, and their bytes. */
export function outputsIn(cacheDirectory: string): { readonly count: number; readonly bytes: number } {
  const kept = keptOutputs(cacheDirectory);
  return { count: kept.length, bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Removes outputs until those that are left take no more than this. */
export function trim(cacheDirectory: string, limit: number): void {
  const kept = keptOutputs(cacheDirectory);
  let left = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of kept) {
    if (left <= limit) return;
    rmSync(path, { force: true });
    left -= bytes;
  }
}

function isOutputNote(value: unknown): value is OutputNote {
  const { identity, bytes, checksum, settled } = (value ?? {}) as Partial<Record<keyof OutputNote, unknown>>;
  return (
    typeof identity === 'string' &&
    typeof bytes === 'number' &&
    typeof checksum === 'number' &&
    (settled === null || typeof settled === 'string')
  );
}
