// The files of a report: a CSV, and `run.log` beside it.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../system/user-error.ts';
import type { Measurement } from './measurement.ts';
import { csvHeader, csvRow, type Tags } from './report.ts';
import { runLog, type RunSummary } from './run-log.ts';

/**
 * Writes the CSV, or appends to it, and appends to `run.log`.
 * @throws UserError where the existing CSV has other columns
 */
export function writeReport(
  csv: string,
  measurements: readonly Measurement[],
  run: RunSummary,
  { tags = [], append = false }: { readonly tags?: Tags; readonly append?: boolean } = {},
): void {
  const header = csvHeader(tags);
  const rows = measurements.map((one) => csvRow(one, tags)).join('');
  const before = append && existsSync(csv) ? readFileSync(csv, 'utf8') : '';
  if (before !== '' && !before.startsWith(header))
    throw new UserError(`${csv} has other columns: append to another file`);
  if (before === '') writeFileSync(csv, header + rows);
  else appendFileSync(csv, `${before.endsWith('\n') ? '' : '\r\n'}${rows}`);
  appendFileSync(join(dirname(csv), 'run.log'), runLog(run));
}
