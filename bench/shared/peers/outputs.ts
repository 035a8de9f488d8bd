// Compares a compiled model's results with those of a peer.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceFlags } from '../../../src/backend/index.ts';
import { decodeElements, type Elements } from '../../../src/measure/elements.ts';
import { runTool } from '../../../src/measure/toolchain.ts';
import type { Contest } from '../../../src/program/verify.ts';
import { BenchError } from '../arguments.ts';

/** Time limit of one call, with the loading of the module. */
const CALL_SECONDS = 600;

/** The call of a function in a module. */
export type Call = Pick<Contest, 'function' | 'inputs' | 'flags' | 'device' | 'tools' | 'folder'>;

/** How near the results of a module are to those of a peer. */
export interface Nearness {
  /** Relative error of each result: see `relativeError`. */
  readonly errors: readonly number[];
  /** Share of the rows of the first result whose largest element is at the same place; null without such rows. */
  readonly sameTop: number | null;
}

/**
 * How near the results of a module are to those of each peer.
 * @param peers for each peer, paths of its results as raw bytes
 * @param rowSize as in `Prepared`
 * @throws BenchError when the module cannot be run
 */
export async function nearnessOf(
  call: Call,
  module: string,
  peers: readonly (readonly string[])[],
  rowSize: number | null,
): Promise<Nearness[]> {
  const types = call.function.results.map(({ elementType }) => elementType);
  const own = await resultsOf(call, module);
  return peers.map((paths) => {
    const theirs = paths.map((path) => readFileSync(path));
    const errors = types.map((type, i) => relativeError(own[i]!, theirs[i]!, type));
    return { errors, sameTop: rowSize && sameTop(own[0]!, theirs[0]!, types[0]!, rowSize) };
  });
}

/** Share of rows whose largest element is at the same place in both results; 0 for different sizes. */
export function sameTop(ours: Uint8Array, peers: Uint8Array, elementType: string, rowSize: number): number {
  const [a, b] = [ours, peers].map((bytes) => largestOfRows(decodeElements(bytes, elementType)!, rowSize));
  return a!.length === b!.length ? a!.filter((one, row) => one === b![row]).length / a!.length : 0;
}

/** Index of the largest element of each row, the first one of equals. */
export function largestOfRows(elements: Elements, rowSize: number): number[] {
  const largest: number[] = [];
  for (let start = 0; start < elements.length; start += rowSize) {
    let at = start;
    for (let i = start + 1; i < start + rowSize; i++) if (elements[i]! > elements[at]!) at = i;
    largest.push(at - start);
  }
  return largest;
}

/** The raw results of a call. @throws BenchError when the module cannot be run */
export async function resultsOf(
  { function: { name, results }, inputs, flags = [], device, tools, folder }: Call,
  module: string,
): Promise<Buffer[]> {
  const own = join(folder, 'results');
  mkdirSync(own, { recursive: true });
  const files = results.map((_, i) => join(own, `${i}.bin`));
  const argv = [
    ...[`--module=${module}`, `--function=${name}`, ...deviceFlags(device), ...flags],
    ...inputs.map((input) => `--input=${input}`),
    ...files.map((file) => `--output=@${file}`),
  ];
  const ended = await runTool(tools.runModule, argv, CALL_SECONDS, new AbortController().signal);
  if (!ended.ok) throw new BenchError(`${module} cannot be run: ${ended.ending}`);
  return files.map((file) => readFileSync(file));
}

/**
 * Largest difference of two elements, relative to the peer's largest element: max|a - b| / max|b|. An element may be the small difference
 * of large values, so errors are not relative to single elements.
 * @param ours raw bytes of a result
 * @param peers raw bytes of the peer's result
 * @returns Infinity for different sizes, a NaN on either side, or an unknown element type
 */
export function relativeError(ours: Uint8Array, peers: Uint8Array, elementType: string): number {
  if (Buffer.compare(ours, peers) === 0) return 0;
  const [a, b] = [ours, peers].map((bytes) => decodeElements(bytes, elementType)) as [
    Elements | null,
    Elements | null,
  ];
  if (a === null || b === null || a.length !== b.length) return Infinity;
  let largest = 0;
  let error = 0;
  for (let i = 0; i < b.length; i++) {
    const difference = Math.abs(Number(a[i]) - Number(b[i]));
    if (Number.isNaN(difference)) return Infinity;
    error = Math.max(error, difference);
    largest = Math.max(largest, Math.abs(Number(b[i])));
  }
  return error === 0 ? 0 : error / largest;
}
