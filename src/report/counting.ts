// Counts compiles without delaying them: a hit appends one line to a small file. A command that shows the counts moves the
// lines into the database first.
import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { linesIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import type { Store } from '../store/store.ts';
import { COUNTERS, filesAt, pathIn, TAKEN_COUNTERS } from '../system/cache.ts';

export type Counts = Readonly<Record<string, number>>;

/** Earlier versions wrote the day of a compile under this key. */
const DAY = 'day';

/** About five thousand compiles. A larger file is replaced by one line with its sums. */
const LARGEST_BYTES = 1_000_000;

/** A process that has opened the file has appended its line within this time. */
const GRACE_MS = 50;

/** A taken file of this age was left behind by a killed process. */
const ABANDONED_MS = 60_000;

/** Counts one compile. Never throws: a full disk must not fail a build. */
export function noteCounts(cacheDirectory: string, counts: Counts): void {
  try {
    if (append(cacheDirectory, counts) <= LARGEST_BYTES) return;
    for (const path of take(cacheDirectory)) {
      append(cacheDirectory, sumIn(path));
      rmSync(path);
    }
  } catch {
    // Not counted.
  }
}

/**
 * Moves all counts into the database.
 * @throws StoreError; the remaining counts are moved the next time
 */
export function collectCounts(cacheDirectory: string, store: Store): void {
  for (const path of take(cacheDirectory)) {
    store.count(sumIn(path));
    rmSync(path, { force: true });
  }
}

/** Counts that are not in the database yet. */
export function pendingCounts(cacheDirectory: string): Counts {
  return sumIn(pathIn(cacheDirectory, COUNTERS));
}

/** Appends one line in one write, which is atomic. Returns the size of the file in bytes. */
function append(cacheDirectory: string, counts: Counts): number {
  const file = openToAppend(pathIn(cacheDirectory, COUNTERS));
  try {
    // The line break comes first, so that a line that a full disk cut off spoils no other line.
    writeSync(file, `\n${JSON.stringify(counts)}`);
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

function openToAppend(path: string): number {
  try {
    return openSync(path, 'a');
  } catch {
    makeFolder(dirname(path), 0o700);
    return openSync(path, 'a');
  }
}

/**
 * Takes the files with lines from all other processes, so that no line is counted twice. Compiles that end meanwhile start a
 * new file. The caller removes the files.
 */
function take(cacheDirectory: string): string[] {
  const taken: string[] = [];
  const takeOne = (from: string) => {
    const path = pathIn(cacheDirectory, TAKEN_COUNTERS, `${process.pid}-${Date.now()}-${taken.length}`);
    try {
      renameSync(from, path);
      taken.push(path);
    } catch {
      // There is no file, or another process has taken the file.
    }
  };
  takeOne(pathIn(cacheDirectory, COUNTERS));
  if (taken.length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, GRACE_MS);
  for (const path of filesAt(cacheDirectory, TAKEN_COUNTERS).filter(isAbandoned)) takeOne(path);
  return taken;
}

function isAbandoned(path: string): boolean {
  // A rename changes the ctime.
  const taken = statSync(path, { throwIfNoEntry: false })?.ctimeMs;
  return taken !== undefined && Date.now() - taken > ABANDONED_MS;
}

/** Sums by name. */
export function sumOf(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

const sumIn = (path: string): Counts => sumOf(linesIn(path).map(parseLine));

function parseLine(line: string): Counts {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    const numbers = Object.entries(value).filter(
      (entry): entry is [string, number] =>
        entry[0] !== DAY && typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    );
    return Object.fromEntries(numbers);
  } catch {
    // An empty line, or a line that a killed process left incomplete.
    return {};
  }
}
