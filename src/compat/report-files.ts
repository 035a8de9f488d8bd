// The files of a report: a CSV, and `run.log` beside it.
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
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
  if (!append || !existsSync(csv) || firstBytes(csv, 1) === '') writeFileSync(csv, header + rows);
  else if (firstBytes(csv, Buffer.byteLength(header)) !== header)
    throw new UserError(`${csv} has other columns: append to another file`);
  else appendFileSync(csv, `${readFileSync(csv).at(-1) === 0x0a ? '' : '\r\n'}${rows}`);
  appendFileSync(join(dirname(csv), 'run.log'), runLog(run));
}

function firstBytes(path: string, length: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
