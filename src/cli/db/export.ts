// `iree-tuned db export`: writes the database as lines or as another database.
import { openSync, closeSync, writeSync } from 'node:fs';
import type { Exchange } from '../../store/exchange/exchange.ts';
import { readLine } from '../../store/exchange/read.ts';
import { openExchange } from '../../store/open-exchange.ts';
import { CliCommand } from '../command.ts';
import { openWholeDatabase, requireDatabase, surroundingsOf, UsageError } from '../context.ts';
import { sentences, warn } from '../output.ts';
import { writeWhole } from '../files.ts';

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
    let count = 0;
    const lines = function* () {
      for (const line of exchange.lines(command.filter, (reason) => skipped.push(reason))) {
        count++;
        yield line;
      }
    };
    try {
      if (isPiped) await pipe(lines());
      else
        writeWhole(file, (path) => {
          (options.sqlite === true ? copy : write)(lines(), path);
        });
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

function write(lines: Iterable<string>, path: string): void {
  const descriptor = openSync(path, 'w');
  try {
    for (const batch of batches(lines)) writeSync(descriptor, `${batch.join('\n')}\n`);
  } finally {
    closeSync(descriptor);
  }
}

function copy(lines: Iterable<string>, path: string): void {
  const target: Exchange = openExchange(path);
  try {
    for (const batch of batches(lines)) target.receive(batch.map(readLine), 'file');
  } finally {
    target.close();
  }
}

async function pipe(lines: Iterable<string>): Promise<void> {
  for (const batch of batches(lines)) {
    const isRoom = process.stdout.write(`${batch.join('\n')}\n`);
    if (!isRoom) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
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
