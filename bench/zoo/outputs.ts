// Compares a compiled model's results with those of a peer.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceFlags } from '../../src/backend/index.ts';
import { decodeElements, type Elements } from '../../src/measure/elements.ts';
import { runTool } from '../../src/measure/toolchain.ts';
import type { Contest } from '../../src/program/verify.ts';
import { BenchError } from '../shared/arguments.ts';

/** Time limit of one call, with the loading of the module. */
const CALL_SECONDS = 600;

/** The call of a function in a module. */
export type Call = Pick<Contest, 'function' | 'inputs' | 'device' | 'tools' | 'folder'>;

/**
 * Relative error of each result of a module against each peer: see `relativeError`.
 * @param peers for each peer, paths of its results as raw bytes
 * @throws BenchError when the module cannot be run
 */
export async function errorsOf(
  call: Call,
  module: string,
  peers: readonly (readonly string[])[],
): Promise<number[][]> {
  const own = await resultsOf(call, module);
  return peers.map((peer) =>
    call.function.results.map(({ elementType }, i) =>
      relativeError(own[i]!, readFileSync(peer[i]!), elementType),
    ),
  );
}

/** The raw results of a call. @throws BenchError when the module cannot be run */
export async function resultsOf(
  { function: { name, results }, inputs, device, tools, folder }: Call,
  module: string,
): Promise<Buffer[]> {
  const own = join(folder, 'results');
  mkdirSync(own, { recursive: true });
  const files = results.map((_, i) => join(own, `${i}.bin`));
  const argv = [
    ...[`--module=${module}`, `--function=${name}`, ...deviceFlags(device)],
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
