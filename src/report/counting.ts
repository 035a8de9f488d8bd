// Counting compiles without making any of them wait: a hit appends one line to a small file; whoever asks for the
// numbers moves the lines into the database first.
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../store/store.ts';

const FILE = 'counters.jsonl';

/** Notes one compile. Never throws: a full disk must not stop a build for a statistic. */
export function noteCounts(cacheDirectory: string, increments: Readonly<Record<string, number>>): void {
  const line = `${JSON.stringify(increments)}\n`;
  const path = join(cacheDirectory, FILE);
  try {
    try {
      appendFileSync(path, line);
    } catch {
      mkdirSync(cacheDirectory, { recursive: true });
      appendFileSync(path, line);
    }
  } catch {
    // Not counted.
  }
}

/** Moves everything noted so far into the database's counters. */
export function collectCounts(cacheDirectory: string, store: Store): void {
  const path = join(cacheDirectory, FILE);
  // Renamed first: compiles that end meanwhile begin a new file, and no line is counted twice.
  const taken = `${path}.${process.pid}`;
  try {
    renameSync(path, taken);
  } catch {
    return;
  }
  const sums: Record<string, number> = {};
  for (const line of readFileSync(taken, 'utf8').split('\n')) {
    for (const [name, value] of Object.entries(parseLine(line))) sums[name] = (sums[name] ?? 0) + value;
  }
  store.count(sums);
  rmSync(taken, { force: true });
}

function parseLine(line: string): Record<string, number> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return {};
    const numbers = Object.entries(value).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    );
    return Object.fromEntries(numbers);
  } catch {
    // The last line of a process that was killed while it wrote.
    return {};
  }
}
