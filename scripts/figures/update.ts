// `npm run bench:results -- [--commit HASH] [FILE...]`: takes over the JSON of benches, and writes bench/RESULTS.md. Without FILE it writes
// the page only.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { taken, type Measured, type Taken } from './benches.ts';
import { PAGE, pageOf, readRuns, VALUES, type Run } from './results.ts';

/** The run with new rows. Rows of other models stay; another bench replaces all rows. */
export function withMeasured(run: Run, { rows, origin }: Taken, date: string, commit: string): Run {
  const isNew = (row: Run['rows'][number]) => rows.some(({ model }) => model === row['model']);
  const kept = origin === null ? run.rows.filter((row) => !isNew(row)) : [];
  return { ...run, ...origin, date: date.slice(0, 10), commit, rows: [...kept, ...rows] };
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { commit: { type: 'string', default: 'unknown' } },
    allowPositionals: true,
  });
  let runs = readRuns();
  for (const file of positionals) {
    const measured = JSON.parse(readFileSync(file, 'utf8')) as Measured;
    for (const one of taken(measured)) {
      const { id } = one;
      if (!runs.some((run) => run.id === id))
        throw new Error(`bench/results.json has no run "${id}": add its title and command, without rows`);
      runs = runs.map((run) => (run.id === id ? withMeasured(run, one, measured.date, values.commit) : run));
    }
  }
  writeFileSync(VALUES, `${JSON.stringify(runs, null, 2)}\n`);
  writeFileSync(PAGE, pageOf(runs));
}
