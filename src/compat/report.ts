// Reports of measurements in the formats of the dispatch profiler: console blocks and CSV. Pure.
import { configurationKey } from '../backend/index.ts';
import { configurationName, dispatchName, gflopsOf, type Measurement } from './measurement.ts';
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

/** Console block of one dispatch. */
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

/** First line of the CSV. */
export const csvHeader = (tags: Tags, more: readonly string[] = []): string =>
  csvLine([...tags.map(([name]) => name), ...HEADER, ...more]);

const rounded = (value: number | null) => value && Number(value.toPrecision(6));

/** CSV line of one dispatch. */
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
