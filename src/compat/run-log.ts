// Log and result of a search in the formats of the auto-scheduler, and its files: a CSV, and `run.log` beside it.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../system/user-error.ts';
import { gflopsOf, type Measurement, type Profiled } from './measurement.ts';
import { namesOf } from './operation.ts';
import { csvHeader, csvRow, type Tags } from './report.ts';

export interface RunSummary {
  readonly begun: Date;
  /** When the input was read and the space created. */
  readonly prepared: Date;
  readonly ended: Date;
  /** Size of each operation's search space, with illegal points. */
  readonly spaceSizes: readonly number[];
  /** Number of timed configurations. */
  readonly valid: number;
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** `22/11/2026 20:33:37` in local time. */
const date = (at: Date): string =>
  `${[at.getDate(), at.getMonth() + 1].map(twoDigits).join('/')}/${at.getFullYear()} ` +
  [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':');

/** `0 hours 1 minutes 30 seconds` */
function duration(from: Date, to: Date): string {
  const seconds = Math.round((to.getTime() - from.getTime()) / 1000);
  return `${Math.floor(seconds / 3600)} hours ${Math.floor((seconds % 3600) / 60)} minutes ${seconds % 60} seconds`;
}

/** Text that one run appends to `run.log`. */
export function runLog({ begun, prepared, ended, spaceSizes, valid }: RunSummary): string {
  return [
    `[Date]: ${date(begun)}\n\n`,
    `[Transform Time]: ${duration(begun, prepared)}\n\n`,
    `[Search Space Size]: ${spaceSizes.reduce((sum, size) => sum + size, 0)}\n\n`,
    ...spaceSizes.map((size) => `search space size is : ${size}\n`),
    `valid run: ${valid}\n`,
    `[Search Time]: ${duration(prepared, ended)}\n\n`,
    '=======================================\n\n',
  ].join('');
}

const STARS = '*'.repeat(56);

/** The last block of a run: the best configuration of each operation, and the time of the search. */
export const resultBlock = (found: readonly Profiled[], { prepared, ended }: RunSummary): string =>
  [
    `\n${STARS}`,
    ...found.flatMap((one) => [
      ...(found.length > 1 ? [`Operation     : ${one.operation.name}`] : []),
      `${bestLines(bestOf(one))}\n`,
    ]),
    duration(prepared, ended),
    STARS,
  ].join('\n');

/** The decided configuration, else the fastest trial: the decision may come from an earlier search. */
function bestOf({ decided, stock, others, best }: Profiled): Measurement {
  if (best !== null || decided !== null) return best ?? stock;
  return [stock, ...others]
    .filter(({ verification }) => verification !== 'FAILED')
    .reduce((a, b) => ((b.ratio ?? 0) > (a.ratio ?? 0) ? b : a));
}

/** Best configuration of one operation: tiles along m, n and k, and gflops. */
export function bestLines(best: Measurement): string {
  const names = namesOf(best.workload, best.configuration);
  const gflops = gflopsOf(best);
  const tiles =
    names === null
      ? 'tilesizes:(default)'
      : `tilesizes:(${names.tiles})_interchange:(012)_vectorsizes:(${names.vectors})    ${names.core} ${names.instruction}`;
  return `[Performance]: The best is ${tiles}\nwith gflops ${gflops === null ? 'Not run' : gflops.toFixed(2)}`;
}

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
