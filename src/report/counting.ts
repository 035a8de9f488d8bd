// Counting compiles without making any of them wait: a hit appends one line to a small file; whoever asks for the
// numbers moves the lines into the database first.
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../system/folder.ts';
import { isIntegerWithin } from '../system/data.ts';
import type { Store } from '../store/store.ts';
import { COUNTERS, pathIn, TAKEN_COUNTERS } from '../system/cache.ts';

export type Counts = Readonly<Record<string, number>>;

/** Of a line: the day of the compile, in days since 1970, UTC. Its counts count for that day, too: see `datedName`. */
const DAY = 'day';
const DAY_MS = 24 * 3600 * 1000;
/** In the year 9999: years of more digits are written in another way. */
const LAST_DAY = 2_932_896;

/** A count of one day, such as `2026-01-31 operations: hit`. Names of counts begin with no digit. */
const datedName = (day: number, name: string) =>
  `${new Date(day * DAY_MS).toISOString().slice(0, 10)} ${name}`;

/** Some five thousand compiles. A longer file is replaced by one line with its sums. */
const LARGEST_BYTES = 1_000_000;

/** Whoever opened the file to append to it has long written his line by then. */
const GRACE_MS = 50;

/** A file that somebody took this long ago was left behind by a process that was killed. */
const ABANDONED_MS = 60_000;

/** Notes one compile. Never throws: a full disk must not stop a build for a statistic. */
export function noteCounts(cacheDirectory: string, counts: Counts): void {
  try {
    if (append(cacheDirectory, { [DAY]: Math.floor(Date.now() / DAY_MS), ...counts }) <= LARGEST_BYTES)
      return;
    for (const path of take(cacheDirectory)) {
      append(cacheDirectory, sumIn(path));
      rmSync(path);
    }
  } catch {
    // Not counted.
  }
}

/**
 * Moves everything noted so far into the database's counters.
 * @throws StoreError; what could not be moved is there for the next time
 */
export function collectCounts(cacheDirectory: string, store: Store): void {
  for (const path of take(cacheDirectory)) {
    store.count(sumIn(path));
    rmSync(path, { force: true });
  }
}

/** What is noted and not yet in the database. */
export function pendingCounts(cacheDirectory: string): Counts {
  return sumIn(pathIn(cacheDirectory, COUNTERS));
}

/** Appends one line in one write, which the system keeps whole. Returns the size of the file in bytes. */
function append(cacheDirectory: string, counts: Counts): number {
  const file = openToAppend(pathIn(cacheDirectory, COUNTERS));
  try {
    // The line break comes first: what a full disk has cut off spoils no other line.
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
 * Takes files with lines away from all other processes: compiles that end meanwhile begin a new one, and no line is
 * counted twice. The caller removes them.
 */
function take(cacheDirectory: string): string[] {
  const taken: string[] = [];
  const takeOne = (from: string) => {
    const path = pathIn(cacheDirectory, TAKEN_COUNTERS, `${process.pid}-${Date.now()}-${taken.length}`);
    try {
      renameSync(from, path);
      taken.push(path);
    } catch {
      // There is none, or another process was quicker.
    }
  };
  takeOne(pathIn(cacheDirectory, COUNTERS));
  if (taken.length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, GRACE_MS);
  for (const path of abandoned(cacheDirectory)) takeOne(path);
  return taken;
}

function abandoned(cacheDirectory: string): string[] {
  const beginning = pathIn(cacheDirectory, TAKEN_COUNTERS);
  try {
    return readdirSync(cacheDirectory)
      .map((name) => join(cacheDirectory, name))
      .filter((path) => {
        if (!path.startsWith(beginning)) return false;
        // Taking a file renames it, which changes its status.
        const taken = statSync(path, { throwIfNoEntry: false })?.ctimeMs;
        return taken !== undefined && Date.now() - taken > ABANDONED_MS;
      });
  } catch {
    return [];
  }
}

/** All of them together. */
export function sumOf(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

const sumIn = (path: string): Counts => sumOf(readText(path).split('\n').map(parseLine));

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What a line counts, in all and on its day; sums of lines have no day, and earlier versions gave none. */
function withDay({ [DAY]: day, ...counts }: Counts): Counts {
  if (!isIntegerWithin(day, 0, LAST_DAY)) return counts;
  const dated = Object.entries(counts).map(([name, value]): [string, number] => [
    datedName(day!, name),
    value,
  ]);
  return { ...counts, ...Object.fromEntries(dated) };
}

function parseLine(line: string): Counts {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    const numbers = Object.entries(value).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    );
    return withDay(Object.fromEntries(numbers));
  } catch {
    // Between two lines, or a line of a process that was killed while it wrote.
    return {};
  }
}
