// Compares a compiled model's results with those of ONNX Runtime.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceFlags } from '../../src/backend/index.ts';
import { runTool } from '../../src/measure/toolchain.ts';
import type { Contest } from '../../src/program/verify.ts';
import { BenchError } from '../shared/arguments.ts';
import { relativeError } from './relative-error.ts';
import type { Programs } from './times.ts';

/** Time limit of one call, with the loading of the module. */
const CALL_SECONDS = 600;

/**
 * Relative error of each result of both modules against ONNX Runtime: see `relativeError`.
 * @param peers paths of ONNX Runtime's results, as raw bytes
 * @throws BenchError when a module cannot be run
 */
export async function errorsOf(
  contest: Contest,
  { stock, tuned }: Programs,
  peers: readonly string[],
): Promise<{ stock: number[]; tuned: number[] }> {
  const ofStock = await errorsOfModule(contest, stock, peers);
  return { stock: ofStock, tuned: tuned === null ? ofStock : await errorsOfModule(contest, tuned, peers) };
}

async function errorsOfModule(
  { function: { name, results }, inputs, flags = [], device, tools, folder }: Contest,
  module: string,
  peers: readonly string[],
): Promise<number[]> {
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
  return results.map(({ elementType }, i) =>
    relativeError(readFileSync(files[i]!), readFileSync(peers[i]!), elementType),
  );
}
