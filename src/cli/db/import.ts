// `iree-tuned db import`: merges exported lines and other databases into the database.
import { createReadStream, realpathSync, rmSync, statSync } from 'node:fs';
import type { Exchange, Received } from '../../store/exchange/exchange.ts';
import { readLine } from '../../store/exchange/read.ts';
import { readLines, type NumberedReading } from '../../store/exchange/split.ts';
import { openExchange } from '../../store/open-exchange.ts';
import { counted } from '../../system/format.ts';
import { readHead } from '../../system/files.ts';
import { makeScratchFolder } from '../../system/scratch.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { openWholeDatabase, surroundingsOf } from '../context.ts';
import { sentences, warn } from '../output.ts';
import { refusalOf } from '../files.ts';
import { BATCH, batches, MOST_PROBLEMS } from './export.ts';

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
    const surroundings = surroundingsOf(command);
    const { database } = surroundings.settings;
    const reports: Report[] = [];
    // Each file has its own exchange: lines of one file do not refer to parts of another.
    for (const file of files) {
      if (isSameFile(file, database))
        throw new UserError(`${file} is the database that receives the lines: name another one`);
      const exchange = openWholeDatabase(surroundings);
      try {
        exchange.reread();
        reports.push(
          isDatabase(file)
            ? importDatabase(file, exchange, surroundings.cacheDirectory)
            : await importLines(file, exchange).catch(naming(file)),
        );
      } finally {
        exchange.close();
      }
    }
    if (reports.some(({ refused }) => refused > 0)) process.exitCode = 1;
    for (const { refused, problems } of reports) {
      for (const problem of problems) warn(`refused: ${problem}`);
      if (refused > problems.length) warn(`refused: ${refused - problems.length} more lines`);
    }
    command.print({ database, files: reports }, () => sentences(...reports.map(describe)));
  });

/** Adds the file to the error of a failed read. */
const naming =
  (file: string) =>
  (error: unknown): never => {
    const isRefused = error instanceof Error && 'syscall' in error;
    throw isRefused ? new UserError(`${file} cannot be read: ${refusalOf(error)}`, { cause: error }) : error;
  };

async function importLines(file: string, exchange: Exchange): Promise<Report> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  const { report, add } = reportOn(file);
  let batch: NumberedReading[] = [];
  const receive = () => {
    const received = exchange.receive(
      batch.map(({ reading }) => reading),
      'file',
    );
    add(received, (index) => `${file}:${batch[index]!.number}`);
    batch = [];
  };
  for await (const line of readLines(stream as AsyncIterable<Uint8Array>)) {
    batch.push(line);
    if (batch.length === BATCH) receive();
  }
  if (batch.length > 0) receive();
  return report;
}

/** The first bytes of every SQLite file. */
const SQLITE_HEADER = 'SQLite format 3\0';

function isDatabase(file: string): boolean {
  if (file === '-' || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return readHead(file, SQLITE_HEADER.length).startsWith(SQLITE_HEADER);
}

function importDatabase(path: string, exchange: Exchange, cacheDirectory: string): Report {
  const folder = makeScratchFolder(cacheDirectory, 'import');
  try {
    const other = openExchange(path, { readonly: true, ...(folder !== null && { copyInto: folder }) });
    const { report, refuse, add } = reportOn(path);
    try {
      const lines = other.lines({}, (problem) => {
        refuse(`${path}: ${problem}`);
      });
      for (const batch of batches(lines)) add(exchange.receive(batch.map(readLine), 'file'), () => path);
    } finally {
      other.close();
    }
    return report;
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    // One of them does not exist.
    return false;
  }
}

/** The report of a file, and functions that add to it. */
function reportOn(from: string) {
  const added: Record<string, number> = {};
  const problems: string[] = [];
  const report = { from, added, known: 0, kept: 0, refused: 0, problems };
  const refuse = (problem: string) => {
    if (report.refused++ < MOST_PROBLEMS) problems.push(problem);
  };
  const add = (received: Received, placeOf: (index: number) => string) => {
    for (const [type, count] of Object.entries(received.added)) added[type] = (added[type] ?? 0) + count;
    report.known += received.known;
    report.kept += received.kept;
    for (const { index, reason } of received.refused) refuse(`${placeOf(index)}: ${reason}`);
  };
  return { report, refuse, add };
}

function describe({ from, added, known, kept, refused }: Report): string {
  const news = (['claim', 'mark', 'trial', 'revocation'] as const).map((type) =>
    counted(added[type] ?? 0, type),
  );
  const rest = [
    `${counted(known, 'line')} known before`,
    ...(kept > 0 ? [`${counted(kept, 'line')} of a later version kept unread`] : []),
    ...(refused > 0 ? [`${counted(refused, 'line')} refused`] : []),
  ];
  return `${from}: new or better: ${news.join(', ')}; ${rest.join(', ')}`;
}
