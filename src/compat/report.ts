// Reports of measurements in the formats of the dispatch profiler, console blocks and CSV, and of the auto-scheduler: log and result of a
// search. Their files are a CSV, and `run.log` beside it.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configurationKey } from '../backend/index.ts';
import { UserError } from '../system/user-error.ts';
import { configurationName, dispatchName, gflopsOf, type Measurement, type Profiled } from './measurement.ts';
import { namesOf, type ProfiledOperation } from './operation.ts';

const PROVIDER = 'IREE Codegen';

const KIND_NAMES: Readonly<Record<ProfiledOperation['kind'], string>> = {
  matmul: 'OperationKind.Matmul',
  matmul_splitk: 'OperationKind.SplitkMatmul',
  batch_matmul: 'OperationKind.BatchMatmul',
  conv2d: 'OperationKind.Conv2d',
  dispatch: 'OperationKind.Dispatch',
};

/** Arguments in the order of the CSV. */
function argumentsOf(operation: ProfiledOperation): [name: string, value: string][] {
  const { batchCount, m, n, k, lhs, rhs, result, splitKSlices } = operation;
  return [
    ['batch_count', batchCount],
    ...Object.entries({ m, n, k, lhs, rhs, result }),
    ['split_k_mode', splitKSlices === null ? 'N/A' : 'parallel'],
    ['split_k_slices', splitKSlices === null ? 'N/A' : String(splitKSlices)],
  ];
}

/** A number in Python's format of a float. */
function float(value: number): string {
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

const gflopsText = (value: number) => float(Number(value.toFixed(2)));

/** Milliseconds with five digits. */
const milliseconds = (seconds: number) => float(Number((1e3 * seconds).toPrecision(5)));

export function consoleBlock(measurement: Measurement): string {
  const { operation, configuration, verification, seconds } = measurement;
  const gflops = gflopsOf(measurement);
  const words = argumentsOf(operation).map(([name, value]) => `--${name}=${value}`);
  return [
    '---------------------------------------------------------------- ',
    `Dispatch      : ${dispatchName(measurement)}`,
    `Provider      : ${PROVIDER}`,
    `OpKind        : ${KIND_NAMES[operation.kind]}`,
    `Operation     : ${operation.name}`,
    `Configuration : ${configurationName(configuration)}`,
    `Arguments     : ${words.join(' ')}`,
    `Verification  : ${verification}`,
    `Runtime(ms)   : ${seconds === null ? 'Not profiled' : milliseconds(seconds)}`,
    `GFLOPs        : ${gflops === null ? 'Not profiled' : gflopsText(gflops)}`,
  ].join('\n');
}

const HEADER = [
  ...['Provider', 'op_kind', 'Operation', 'bytes', 'flops', 'batch_count', 'm', 'n', 'k', 'lhs', 'rhs'],
  ...['result', 'split_k_mode', 'split_k_slices', 'Tile config', 'Core class', 'Instruction class'],
  ...['Verification', 'Runtime(ms)', 'GFLOPs'],
  // Columns that the profiler lacks.
  ...['Configuration', 'Target', 'Device', 'Compiler', 'Ratio', 'Low', 'High'],
];

/** Leading columns with the same value in every line, for merging reports. */
export type Tags = readonly (readonly [name: string, value: string])[];

export const csvHeader = (tags: Tags, more: readonly string[] = []): string =>
  csvLine([...tags.map(([name]) => name), ...HEADER, ...more]);

const rounded = (value: number | null) => value && Number(value.toPrecision(6));

export function csvRow(measurement: Measurement, tags: Tags, more: readonly (string | null)[] = []): string {
  const { operation, workload, configuration, verification } = measurement;
  const { seconds, ratio, low, high, place } = measurement;
  const gflops = gflopsOf(measurement);
  const names = namesOf(workload, configuration);
  return csvLine([
    ...tags.map(([, value]) => value),
    ...[PROVIDER, operation.kind, operation.name, operation.bytes, operation.flops],
    ...argumentsOf(operation).map(([, value]) => value),
    ...(names === null ? Array<string>(3).fill('Default') : [names.tiles, names.core, names.instruction]),
    verification,
    ...(seconds === null || gflops === null ? ['', 'Not run'] : [milliseconds(seconds), gflopsText(gflops)]),
    configurationKey(configuration),
    ...[place.target, place.device, place.compiler],
    ...[rounded(ratio), rounded(low), rounded(high)],
    ...more,
  ]);
}

/** A line with CR LF, in the format of Python's csv module. Quotes fields with commas, quotes or line breaks; null is an empty field. */
const csvLine = (fields: readonly (string | number | boolean | null)[]): string =>
  `${fields.map(field).join(',')}\r\n`;

function field(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

interface RunSummary {
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
