// `iree-tuned import` and `iree-tuned merge`: what others have found out, into the database.
import { createReadStream, realpathSync, rmSync, statSync } from 'node:fs';
import type { Command as Program } from 'commander';
import type { Exchange, Received } from '../store/exchange/exchange.ts';
import { readLine } from '../store/exchange/read.ts';
import { readLines, type NumberedReading } from '../store/exchange/split.ts';
import { openExchange } from '../store/open-exchange.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import { openWholeDatabase, surroundingsOf } from './context.ts';
import { BATCH, batches } from './export.ts';
import { say, warn } from './output.ts';
import { inWords } from './refusal.ts';

/** What came of one file. */
interface Report extends Omit<Received, 'refused'> {
  readonly from: string;
  readonly refused: number;
  /** The first of them, in words. */
  readonly problems: readonly string[];
}

const MOST_PROBLEMS = 10;

export async function importFiles(
  files: readonly string[],
  options: { json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program);
  const reports: Report[] = [];
  // One for each file: what a file does not know another one does not, either.
  for (const file of files) {
    const exchange = openWholeDatabase(surroundings);
    try {
      exchange.reread();
      reports.push(await importFile(file, exchange).catch(naming(file)));
    } finally {
      exchange.close();
    }
  }
  tell(reports, surroundings.settings.database, options);
}

/** Says of a file that cannot be read which one it is, and why. */
const naming =
  (file: string) =>
  (error: unknown): never => {
    const isRefused = error instanceof Error && 'syscall' in error;
    throw isRefused ? new UserError(`${file} cannot be read: ${inWords(error)}`, { cause: error }) : error;
  };

async function importFile(file: string, exchange: Exchange): Promise<Report> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  const counter = new Counter(file);
  let batch: NumberedReading[] = [];
  const receive = () => {
    const received = exchange.receive(
      batch.map(({ reading }) => reading),
      'file',
    );
    counter.add(received, (index) => `${file}:${batch[index]!.number}`);
    batch = [];
  };
  for await (const line of readLines(withoutDatabases(file, stream as AsyncIterable<Uint8Array>))) {
    batch.push(line);
    if (batch.length === BATCH) receive();
  }
  if (batch.length > 0) receive();
  return counter.report();
}

/** Who gives a database instead of its lines wants it merged. */
async function* withoutDatabases(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst && Buffer.from(chunk.subarray(0, 15)).toString('latin1') === 'SQLite format 3')
      throw new UserError(`${file} is a SQLite database: iree-tuned merge ${file}`);
    isFirst = false;
    yield chunk;
  }
}

export function mergeDatabases(
  paths: readonly string[],
  options: { json?: boolean },
  program: Program,
): void {
  const surroundings = surroundingsOf(program);
  const { settings, cacheDirectory } = surroundings;
  const exchange = openWholeDatabase(surroundings);
  const reports: Report[] = [];
  try {
    exchange.reread();
    for (const path of paths) {
      if (isSameFile(path, settings.database))
        throw new UserError(`${path} is the database that others are merged into: name another one`);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
        throw new UserError(`${path}: there is no such database to merge: name a SQLite file`);
      reports.push(mergeDatabase(path, exchange, cacheDirectory));
    }
  } finally {
    exchange.close();
  }
  tell(reports, settings.database, options);
}

function mergeDatabase(path: string, exchange: Exchange, cacheDirectory: string): Report {
  const folder = makeScratchFolder(cacheDirectory, 'merge');
  try {
    const other = openExchange(path, { readonly: true, ...(folder !== null && { copyInto: folder }) });
    const counter = new Counter(path);
    try {
      const lines = other.lines({}, (problem) => {
        counter.refuse(`${path}: ${problem}`);
      });
      for (const batch of batches(lines))
        counter.add(exchange.receive(batch.map(readLine), 'file'), () => path);
    } finally {
      other.close();
    }
    return counter.report();
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    // One that is not there is no other.
    return false;
  }
}

/** Adds up what came of batches. */
class Counter {
  readonly #from: string;
  readonly #added: Record<string, number> = {};
  readonly #problems: string[] = [];
  #known = 0;
  #kept = 0;
  #refused = 0;

  constructor(from: string) {
    this.#from = from;
  }

  add({ added, known, kept, refused }: Received, placeOf: (index: number) => string): void {
    for (const [type, count] of Object.entries(added)) this.#added[type] = (this.#added[type] ?? 0) + count;
    this.#known += known;
    this.#kept += kept;
    for (const { index, reason } of refused) this.refuse(`${placeOf(index)}: ${reason}`);
  }

  refuse(problem: string): void {
    if (this.#refused++ < MOST_PROBLEMS) this.#problems.push(problem);
  }

  report(): Report {
    return {
      from: this.#from,
      added: this.#added,
      known: this.#known,
      kept: this.#kept,
      refused: this.#refused,
      problems: this.#problems,
    };
  }
}

function tell(reports: readonly Report[], database: string, { json }: { json?: boolean }): void {
  if (reports.some(({ refused }) => refused > 0)) process.exitCode = 1;
  if (json === true) {
    console.log(JSON.stringify({ database, files: reports }, null, 2));
    return;
  }
  for (const { from, added, known, kept, refused, problems } of reports) {
    for (const problem of problems) warn(`refused: ${problem}`);
    if (refused > problems.length) warn(`refused: ${refused - problems.length} more lines`);
    const of = (type: keyof Received['added'], one: string, many: string) =>
      `${added[type] ?? 0} ${added[type] === 1 ? one : many}`;
    const news = [of('claim', 'claim', 'claims'), of('mark', 'mark', 'marks')];
    news.push(of('trial', 'trial', 'trials'), of('revocation', 'revocation', 'revocations'));
    const rest = [
      `${known} lines were known`,
      ...(kept > 0 ? [`${kept} of a later version are kept and not read`] : []),
      ...(refused > 0 ? [`${refused} refused`] : []),
    ];
    say(`${from}: new or better: ${news.join(', ')}; ${rest.join(', ')}`);
  }
}
