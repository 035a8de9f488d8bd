// Reads files of lines and other databases into a database, and writes lines.
import { closeSync, createReadStream, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readHead } from '../../system/files.ts';
import { limited } from '../../system/limited.ts';
import { makeScratchFolder } from '../../system/scratch.ts';
import { refusalOf } from '../../system/user-files.ts';
import { UserError } from '../../system/user-error.ts';
import { openExchange } from '../sqlite/exchange.ts';
import type { Exchange, Received } from './exchange.ts';
import { readLine, readLines, type Reading } from './read.ts';

/** Lines of one write or one transaction. */
const BATCH = 1000;

/** Problems that are kept one by one. */
export const MOST_PROBLEMS = 10;

/** Result of one file. */
export interface Imported extends Omit<Received, 'refused'> {
  readonly from: string;
  readonly refused: number;
  /** The first reasons. */
  readonly problems: readonly string[];
}

export interface Limits {
  /** Limit of the lines in bytes. */
  readonly most?: number;
  /** Limit of refused lines. */
  readonly mostRefused?: number;
  /** Refuses lines. */
  readonly judged?: (reading: Reading) => Reading;
}

/** A line, and its place for messages. */
interface PlacedLine {
  readonly place: string;
  readonly reading: Reading;
}

/**
 * Merges a file of lines, compressed by gzip or not, or another database.
 * @param file its path; `-` for stdin
 * @throws UserError for an unreadable file, StoreError
 */
export async function importFile(
  file: string,
  exchange: Exchange,
  cacheDirectory: string,
  { most = Infinity, mostRefused = Infinity, judged = (reading) => reading }: Limits = {},
): Promise<Imported> {
  const added: Record<string, number> = {};
  const problems: string[] = [];
  const report = { from: file, added, known: 0, kept: 0, refused: 0, problems };
  const refuse = (problem: string) => {
    if (report.refused++ < MOST_PROBLEMS) problems.push(problem);
  };
  let batch: PlacedLine[] = [];
  const receive = () => {
    const readings = batch.map(({ reading }) => judged(reading));
    const received = exchange.receive(readings);
    for (const [type, count] of Object.entries(received.added)) added[type] = (added[type] ?? 0) + count;
    report.known += received.known;
    report.kept += received.kept;
    for (const { index, reason } of received.refused) refuse(`${batch[index]!.place}: ${reason}`);
    if (report.refused > mostRefused)
      throw new UserError(`more than ${mostRefused} lines are refused, such as ${problems[0]!}`);
    batch = [];
  };
  const isDatabase = startsWith(file, SQLITE_HEADER);
  const lines = isDatabase ? linesOfDatabase(file, refuse, cacheDirectory) : linesOfText(file, most);
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === BATCH) receive();
  }
  if (batch.length > 0) receive();
  return report;
}

async function* linesOfText(file: string, most: number): AsyncGenerator<PlacedLine> {
  const bytes: NodeJS.ReadableStream = file === '-' ? process.stdin : createReadStream(file);
  const isPacked = startsWith(file, GZIP_HEADER);
  // An error of the file reaches the reader through the last stream.
  const stream = isPacked ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
  try {
    const chunks = limited(
      stream as AsyncIterable<Uint8Array>,
      most,
      `its lines are longer than ${most} bytes`,
    );
    for await (const { number, reading } of readLines(chunks)) yield { place: `${file}:${number}`, reading };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
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
    using other = openExchange(path, { readonly: true, ...(folder !== null && { copyInto: folder }) });
    const lines = other.lines({}, (problem) => {
      refuse(`${path}: ${problem}`);
    });
    for (const line of lines) yield { place: path, reading: readLine(line) };
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

/** The first bytes of every SQLite file, and of every file of gzip. */
const SQLITE_HEADER = 'SQLite format 3\0';
const GZIP_HEADER = '\x1f\x8b';

const startsWith = (file: string, header: string): boolean =>
  file !== '-' &&
  statSync(file, { throwIfNoEntry: false })?.isFile() === true &&
  readHead(file, header.length) === header;

export function writeLines(lines: Iterable<string>, path: string): void {
  const descriptor = openSync(path, 'w');
  try {
    for (const batch of batches(lines)) writeSync(descriptor, `${batch.join('\n')}\n`);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes lines to a database. */
export function copyLines(lines: Iterable<string>, path: string): void {
  using target = openExchange(path);
  for (const batch of batches(lines)) target.receive(batch.map(readLine));
}

export function* batches<T>(values: Iterable<T>, size = BATCH): Generator<T[]> {
  let batch: T[] = [];
  for (const value of values) {
    batch.push(value);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
