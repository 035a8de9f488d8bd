// Compares a compiled model's results with those of a peer.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceFlags } from '../../src/backend/index.ts';
import { runTool } from '../../src/measure/toolchain.ts';
import type { Contest } from '../../src/program/verify.ts';
import { BenchError } from '../shared/arguments.ts';
import { relativeError } from './relative-error.ts';

/** Time limit of one call, with the loading of the module. */
const CALL_SECONDS = 600;

/** The call of a function in a module. */
type Call = Pick<Contest, 'function' | 'inputs' | 'flags' | 'device' | 'tools' | 'folder'>;

/**
 * Relative error of each result of a module against each peer: see `relativeError`.
 * @param peers for each peer, paths of its results as raw bytes
 * @throws BenchError when the module cannot be run
 */
export async function errorsOf(
  { function: { name, results }, inputs, flags = [], device, tools, folder }: Call,
  module: string,
  peers: readonly (readonly string[])[],
): Promise<number[][]> {
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
  return peers.map((peer) =>
    results.map(({ elementType }, i) =>
      relativeError(readFileSync(files[i]!), readFileSync(peer[i]!), elementType),
    ),
  );
}
