// `iree-tuned db export`: writes the database as lines or as another database.
import { openSync, closeSync, writeSync, renameSync, rmSync } from 'node:fs';
import type { Exchange } from '../../store/exchange/exchange.ts';
import { readLine } from '../../store/exchange/read.ts';
import { openExchange } from '../../store/open-exchange.ts';
import { temporaryName } from '../../system/scratch.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { openWholeDatabase, requireDatabase, surroundingsOf, UsageError } from '../context.ts';
import { sentences, warn } from '../output.ts';
import { refusalOf } from '../refusal.ts';

/** Lines of one write or one transaction. */
export const BATCH = 1000;

/** Problems that are printed one by one. */
export const MOST_PROBLEMS = 10;

export const exportCommand = new CliCommand(
  'export',
  'write the database to a file for iree-tuned db import: JSON lines, sorted',
)
  .argument('<file>', 'path of the file; - for stdout')
  .filters()
  .option('--sqlite', 'write a SQLite database')
  .json('print the result as JSON')
  .examples(
    ['iree-tuned db export tuning.jsonl', 'all lines'],
    ['iree-tuned db export - --with-compiler 3.13 | gzip > tuning.jsonl.gz', 'lines of one compiler'],
  )
  .action(async (file: string, options: { sqlite?: boolean; json?: boolean }, command: CliCommand) => {
    const surroundings = surroundingsOf(command);
    const isPiped = file === '-';
    if (isPiped && (options.sqlite === true || options.json === true))
      throw new UsageError('db export -: --sqlite and --json need a file');
    requireDatabase(surroundings);
    const exchange = openWholeDatabase(surroundings);
    const skipped: string[] = [];
    const lines = exchange.lines(command.filter, (reason) => skipped.push(reason));
    let count: number;
    try {
      if (isPiped) count = await pipe(lines);
      else
        count = writeWhole(file, (path) =>
          options.sqlite === true ? copy(lines, path) : write(lines, path),
        );
    } finally {
      exchange.close();
    }
    for (const reason of skipped.slice(0, MOST_PROBLEMS)) warn(`not exported: ${reason}`);
    if (skipped.length > MOST_PROBLEMS)
      warn(`not exported: ${skipped.length - MOST_PROBLEMS} more invalid rows`);
    if (isPiped) return;
    command.print({ file, lines: count, skipped: skipped.length }, () =>
      sentences(`${file}: ${count} lines from ${surroundings.settings.database}`),
    );
  });

/** Writes the whole file or nothing, even if the process is killed. */
function writeWhole(file: string, make: (path: string) => number): number {
  const path = temporaryName(file);
  try {
    const count = make(path);
    renameSync(path, file);
    return count;
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    // The error names the temporary file.
    if (error instanceof Error && 'syscall' in error)
      throw new UserError(`${file} cannot be written: ${refusalOf(error)}`, { cause: error });
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
