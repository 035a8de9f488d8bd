// `iree-tuned db export` and `import`: the database as lines or as another database.
import { closeSync, createReadStream, openSync, realpathSync, rmSync, statSync, writeSync } from 'node:fs';
import type { Exchange, Received } from '../../store/exchange/exchange.ts';
import { type Reading, readLine } from '../../store/exchange/read.ts';
import { readLines } from '../../store/exchange/split.ts';
import { openExchange } from '../../store/open-exchange.ts';
import { readHead } from '../../system/files.ts';
import { counted } from '../../system/format.ts';
import { makeScratchFolder } from '../../system/scratch.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { exchanging, requireDatabase } from '../database.ts';
import { UsageError } from '../failure.ts';
import { refusalOf, writeWhole } from '../files.ts';
import { sentences, warn } from '../output.ts';

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
    const surroundings = command.surroundings();
    const isPiped = file === '-';
    if (isPiped && (options.sqlite === true || options.json === true))
      throw new UsageError('db export -: --sqlite and --json need a file');
    requireDatabase(surroundings);
    const skipped: string[] = [];
    let count = 0;
    await exchanging(surroundings, async (exchange) => {
      const lines = function* () {
        for (const line of exchange.lines(command.filter, (reason) => skipped.push(reason))) {
          count++;
          yield line;
        }
      };
      if (isPiped) await pipe(lines());
      else
        writeWhole(file, (path) => {
          (options.sqlite === true ? copy : write)(lines(), path);
        });
    });
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

function* batches<T>(values: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  for (const value of values) {
    batch.push(value);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Result of one file. */
interface Report extends Omit<Received, 'refused'> {
  readonly from: string;
  readonly refused: number;
  /** The first reasons. */
  readonly problems: readonly string[];
}

export const importCommand = new CliCommand(
  'import',
  'merge exported lines and SQLite databases into the database: the better evidence stays, in any order',
)
  .argument('<files...>', 'files of iree-tuned db export, or databases; - for stdin')
  .json('print the result as JSON')
  .examples(
    ['iree-tuned db import tuning.jsonl', 'lines of iree-tuned db export'],
    ['gunzip -c tuning.jsonl.gz | iree-tuned db import -', 'lines from a pipe'],
    ['iree-tuned db import ~/old/tuning.db', 'another database, which stays unchanged'],
  )
  .action(async (files: readonly string[], _, command: CliCommand) => {
    const surroundings = command.surroundings();
    const { database } = surroundings.settings;
    const reports: Report[] = [];
    // Each file has its own exchange: lines of one file do not refer to parts of another.
    for (const file of files) {
      if (isSameFile(file, database))
        throw new UserError(`${file} is the database that receives the lines: name another one`);
      reports.push(
        await exchanging(surroundings, (exchange) => {
          exchange.reread();
          return importFile(file, exchange, surroundings.cacheDirectory);
        }),
      );
    }
    if (reports.some(({ refused }) => refused > 0)) process.exitCode = 1;
    for (const { refused, problems } of reports) {
      for (const problem of problems) warn(`refused: ${problem}`);
      if (refused > problems.length) warn(`refused: ${refused - problems.length} more lines`);
    }
    command.print({ database, files: reports }, () => sentences(...reports.map(describe)));
  });

/** A line, and its place for messages. */
interface PlacedLine {
  readonly place: string;
  readonly reading: Reading;
}

async function importFile(file: string, exchange: Exchange, cacheDirectory: string): Promise<Report> {
  const added: Record<string, number> = {};
  const problems: string[] = [];
  const report = { from: file, added, known: 0, kept: 0, refused: 0, problems };
  const refuse = (problem: string) => {
    if (report.refused++ < MOST_PROBLEMS) problems.push(problem);
  };
  let batch: PlacedLine[] = [];
  const receive = () => {
    const readings = batch.map(({ reading }) => reading);
    const received = exchange.receive(readings, 'file');
    for (const [type, count] of Object.entries(received.added)) added[type] = (added[type] ?? 0) + count;
    report.known += received.known;
    report.kept += received.kept;
    for (const { index, reason } of received.refused) refuse(`${batch[index]!.place}: ${reason}`);
    batch = [];
  };
  const lines = isDatabase(file) ? linesOfDatabase(file, refuse, cacheDirectory) : linesOfText(file);
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === BATCH) receive();
  }
  if (batch.length > 0) receive();
  return report;
}

async function* linesOfText(file: string): AsyncGenerator<PlacedLine> {
  const stream: AsyncIterable<Uint8Array> = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const { number, reading } of readLines(stream)) yield { place: `${file}:${number}`, reading };
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new UserError(`${file} cannot be read: ${refusalOf(error)}`, { cause: error });
  }
}

function* linesOfDatabase(
  path: string,
  refuse: (problem: string) => void,
  cacheDirectory: string,
): Generator<PlacedLine> {
  const folder = makeScratchFolder(cacheDirectory, 'import');
  try {
    const other = openExchange(path, { readonly: true, ...(folder !== null && { copyInto: folder }) });
    try {
      const lines = other.lines({}, (problem) => {
        refuse(`${path}: ${problem}`);
      });
      for (const line of lines) yield { place: path, reading: readLine(line) };
    } finally {
      other.close();
    }
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

/** The first bytes of every SQLite file. */
const SQLITE_HEADER = 'SQLite format 3\0';

function isDatabase(file: string): boolean {
  if (file === '-' || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return readHead(file, SQLITE_HEADER.length).startsWith(SQLITE_HEADER);
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    // One of them does not exist.
    return false;
  }
}

function describe({ from, added, known, kept, refused }: Report): string {
  const news = (['claim', 'mark', 'trial', 'revocation', 'note'] as const).map((type) =>
    counted(added[type] ?? 0, type),
  );
  const rest = [
    `${counted(known, 'line')} known before`,
    ...(kept > 0 ? [`${counted(kept, 'line')} of a later version kept unread`] : []),
    ...(refused > 0 ? [`${counted(refused, 'line')} refused`] : []),
  ];
  return `${from}: new or better: ${news.join(', ')}; ${rest.join(', ')}`;
}
