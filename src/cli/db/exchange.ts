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
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { exchanging, requireDatabase } from '../database.ts';
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
          (options.sqlite === true ? copyLines : writeLines)(lines(), path);
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

export async function pipe(lines: Iterable<string>): Promise<void> {
  for (const batch of batches(lines)) {
    const isRoom = process.stdout.write(`${batch.join('\n')}\n`);
    if (!isRoom) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
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

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    // One of them does not exist.
    return false;
  }
}

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
