// `iree-tuned db export` and `import`: the database as lines or as another database.
import { realpathSync } from 'node:fs';
import {
  batches,
  copyLines,
  importFile,
  type Imported,
  MOST_PROBLEMS,
  writeLines,
} from '../../store/exchange/files.ts';
import { counted } from '../../system/format.ts';
import { resultOr } from '../../system/result-or.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { openLines, requireDatabase } from '../database.ts';
import { UsageError } from '../failure.ts';
import { writeWhole } from '../../system/user-files.ts';
import { sentences, warn } from '../output.ts';

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
    using exchange = openLines(surroundings);
    const lines = function* () {
      for (const line of exchange.lines(command.filter, (reason) => skipped.push(reason))) {
        count++;
        yield line;
      }
    };
    await deliver(file, lines(), options.sqlite === true ? copyLines : writeLines);
    warnOfLines('not exported', skipped.slice(0, MOST_PROBLEMS), 'invalid rows', skipped.length);
    if (isPiped) return;
    command.print({ file, lines: count, skipped: skipped.length }, () =>
      sentences(`${file}: ${count} lines from ${surroundings.settings.database}`),
    );
  });

/** Writes lines to a file, or to stdout for `-`. */
export async function deliver(file: string, lines: Iterable<string>, write = writeLines): Promise<void> {
  if (file !== '-') {
    writeWhole(file, (path) => {
      write(lines, path);
    });
    return;
  }
  for (const batch of batches(lines)) {
    const isRoom = process.stdout.write(`${batch.join('\n')}\n`);
    if (!isRoom) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

/** Tells the first problems with lines, and the number of the others. */
export function warnOfLines(what: string, problems: readonly string[], others: string, all: number): void {
  for (const problem of problems) warn(`${what}: ${problem}`);
  if (all > problems.length) warn(`${what}: ${all - problems.length} more ${others}`);
}

export const importCommand = new CliCommand(
  'import',
  'merge exported lines and SQLite databases into the database: the better evidence stays, in any order',
)
  .argument('<files...>', 'files of iree-tuned db export, or databases; - for stdin')
  .json('print the result as JSON')
  .examples(
    ['iree-tuned db import tuning.jsonl', 'lines of iree-tuned db export'],
    ['iree-tuned db import tuning.jsonl.gz', 'the same, compressed by gzip'],
    ['iree-tuned db import ~/old/tuning.db', 'another database, which stays unchanged'],
  )
  .action(async (files: readonly string[], _, command: CliCommand) => {
    const surroundings = command.surroundings();
    const { database } = surroundings.settings;
    const reports: Imported[] = [];
    // Each file has its own exchange: lines of one file do not refer to parts of another.
    for (const file of files) {
      // One of them may not exist.
      if (resultOr(() => realpathSync(file) === realpathSync(database), false))
        throw new UserError(`${file} is the database that receives the lines: name another one`);
      using exchange = openLines(surroundings);
      exchange.reread();
      reports.push(await importFile(file, exchange, surroundings.cacheDirectory));
    }
    if (reports.some(({ refused }) => refused > 0)) process.exitCode = 1;
    for (const { refused, problems } of reports) warnOfLines('refused', problems, 'lines', refused);
    command.print({ database, files: reports }, () => sentences(...reports.map(describe)));
  });

function describe({ from, added, known, kept, refused }: Imported): string {
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
