// Runs ONNX Runtime in separate processes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { undisturbed } from '../../src/measure/statistics.ts';
import { runPython } from '../shared/exporter.ts';
import { root } from '../shared/workplace.ts';
import type { Effort } from './effort.ts';
import type { Prepared } from './prepared.ts';

export interface Peer {
  readonly versions: Readonly<Record<string, string>>;
  /** Calls a model once. @returns paths of raw files, one for each result */
  run(model: Prepared, results: number, folder: string): Promise<string[]>;
  /** Undisturbed seconds of one call. */
  time(model: Prepared, effort: Effort): Promise<number>;
}

const script = join(root, 'bench', 'onnx', 'onnx_runtime.py');

/**
 * @param python interpreter of an environment with ONNX Runtime
 * @param threads of a call
 */
export async function openPeer(python: string, threads: number): Promise<Peer> {
  const ask = (command: string, argv: readonly (string | number)[] = []) =>
    runPython(python, [script, command, ...argv.map(String)], `ONNX Runtime failed (${command})`);
  return {
    versions: JSON.parse(await ask('versions')) as Record<string, string>,
    async run({ onnx, inputs }, results, folder) {
      const own = join(folder, 'onnx-runtime');
      mkdirSync(own);
      await ask('run', [onnx, threads, own, ...inputs]);
      return Array.from({ length: results }, (_, i) => join(own, `${i}.bin`));
    },
    async time({ onnx, inputs }, { repetitions, minSeconds }) {
      const text = await ask('time', [onnx, threads, repetitions, minSeconds, ...inputs]);
      return undisturbed(JSON.parse(text) as number[]);
    },
  };
}
