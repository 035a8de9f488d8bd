// Counts compiles without delaying them: a hit appends one line to a small file.
import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '../system/data.ts';
import { linesIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { resultOr } from '../system/result-or.ts';
import { COUNTERS, filesAt, pathIn, TAKEN_COUNTERS } from '../system/cache.ts';

export type Counts = Readonly<Record<string, number>>;

/** About five thousand compiles. A larger file is replaced by one line with its sums. */
const LARGEST_BYTES = 1_000_000;

/** A process that has opened the file has appended its line within this time. */
const GRACE_MS = 50;

/** A taken file of this age was left behind by a killed process. */
const ABANDONED_MS = 60_000;

/** Counts one compile. Never throws: a full disk must not fail a build. */
export function noteCounts(cacheDirectory: string, counts: Counts): void {
  try {
    if (append(cacheDirectory, counts) > LARGEST_BYTES) append(cacheDirectory, takeCounts(cacheDirectory));
  } catch {
    // Not counted.
  }
}

/** The sums of all counted compiles. */
export const countsIn = (cacheDirectory: string): Counts => sumIn(pathIn(cacheDirectory, COUNTERS));

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
 * Removes all counts, and returns their sums. The files are taken from all other processes first, so that no line is counted twice.
 * Compiles that end meanwhile start a new file.
 */
export function takeCounts(cacheDirectory: string): Counts {
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
  const counts = sumOf(taken.map(sumIn));
  for (const path of taken) rmSync(path, { force: true });
  return counts;
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

/** The counts of a line; none for an empty line, or for a line that a killed process left incomplete. */
function parseLine(line: string): Counts {
  const value = resultOr((): unknown => JSON.parse(line), null);
  if (!isObject(value)) return {};
  const isCount = (entry: [string, unknown]): entry is [string, number] => Number.isFinite(entry[1]);
  return Object.fromEntries(Object.entries(value).filter(isCount));
}
