// `iree-tuned export`: the database as lines, or as another database.
import { openSync, closeSync, writeSync, renameSync, rmSync } from 'node:fs';
import type { Command as Program } from 'commander';
import type { Exchange } from '../store/exchange/exchange.ts';
import { readLine } from '../store/exchange/read.ts';
import { openExchange } from '../store/open-exchange.ts';
import { temporaryName } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import { openWholeDatabase, requireDatabase, surroundingsOf, UsageError } from './context.ts';
import { filterOf } from './filters.ts';
import { say, warn } from './output.ts';
import { inWords } from './refusal.ts';

/** Lines that are written, or merged, at once. */
export const BATCH = 1000;

export async function exportDatabase(
  file: string,
  options: { sqlite?: boolean; json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const isPiped = file === '-';
  if (isPiped && (options.sqlite === true || options.json === true))
    throw new UsageError('export -: a database, or a report, cannot go where the lines go; give a file');
  requireDatabase(surroundings);
  const exchange = openWholeDatabase(surroundings);
  const skipped: string[] = [];
  const lines = exchange.lines(filterOf(program), (reason) => skipped.push(reason));
  let count: number;
  try {
    if (isPiped) count = await pipe(lines);
    else
      count = writeWhole(file, (path) => (options.sqlite === true ? copy(lines, path) : write(lines, path)));
  } finally {
    exchange.close();
  }
  for (const reason of skipped.slice(0, 10)) warn(`not exported: ${reason}`);
  if (skipped.length > 10) warn(`not exported: ${skipped.length - 10} more rows that are not sound`);
  if (options.json === true) console.log(JSON.stringify({ file, lines: count, skipped: skipped.length }));
  else if (!isPiped) say(`${file}: ${count} lines from ${surroundings.settings.database}`);
}

/** All of a file or nothing of it, whenever we are killed. */
function writeWhole(file: string, make: (path: string) => number): number {
  const path = temporaryName(file);
  try {
    const count = make(path);
    renameSync(path, file);
    return count;
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    // What is named is the file that was asked for, not the one that becomes it.
    if (error instanceof Error && 'syscall' in error)
      throw new UserError(`${file} cannot be written: ${inWords(error)}`, { cause: error });
    throw error;
  }
}

function write(lines: Iterable<string>, path: string): number {
  const descriptor = openSync(path, 'w');
  try {
    let count = 0;
    for (const batch of batches(lines)) {
      writeSync(descriptor, `${batch.join('\n')}\n`);
      count += batch.length;
    }
    return count;
  } finally {
    closeSync(descriptor);
  }
}

function copy(lines: Iterable<string>, path: string): number {
  const target: Exchange = openExchange(path);
  let count = 0;
  try {
    for (const batch of batches(lines)) {
      target.receive(batch.map(readLine), 'file');
      count += batch.length;
    }
  } finally {
    target.close();
  }
  return count;
}

async function pipe(lines: Iterable<string>): Promise<number> {
  let count = 0;
  for (const batch of batches(lines)) {
    count += batch.length;
    const isRoom = process.stdout.write(`${batch.join('\n')}\n`);
    if (!isRoom) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return count;
}

export function* batches<T>(values: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  for (const value of values) {
    batch.push(value);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
