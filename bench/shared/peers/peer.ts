// Runs a peer, such as ONNX Runtime, in separate processes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Effort } from '../../../src/running/comparison/rounds.ts';
import { undisturbed } from '../../../src/measure/statistics.ts';
import { runPython } from '../exporter.ts';

/** The files of a model. */
export interface Prepared {
  /** Path of the static ONNX model. */
  readonly onnx: string;
  /** Path of the same model as MLIR. */
  readonly program: string;
  /** Name of the function to call in the program; null for `main`, or else its only public function. */
  readonly function: string | null;
  /** More flags of IREE's tools, such as those of parameters. */
  readonly flags: readonly string[];
  /** Settings of the wrapper for this model, by names without `IREE_TUNED_`; absent for none. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Paths of .npy files, one for each input. */
  readonly inputs: readonly string[];
  /** Path of the ONNX model before its quantization; null for other models. */
  readonly original: string | null;
  /** Size of the rows of the first result whose largest element is the model's answer; null without such rows. */
  readonly rowSize: number | null;
}

export interface Peer {
  readonly versions: Readonly<Record<string, string>>;
  /** Calls a model once. @returns paths of raw files, one for each result */
  run(model: Prepared, results: number, folder: string): Promise<string[]>;
  /** Calls a model, and the original that it was made of, with random inputs. */
  draw(model: Prepared, original: string, count: number, folder: string): Promise<Draw[]>;
  /** Undisturbed seconds of one call. */
  time(model: Prepared, effort: Effort): Promise<number>;
}

/** Paths of a draw of inputs, and of the first result of both models. */
export interface Draw {
  readonly inputs: readonly string[];
  readonly result: string;
  readonly original: string;
}

/** A runtime for ONNX models. */
interface Runtime {
  readonly name: string;
  /** Its script, with the command line of `peer.py`. */
  readonly script: string;
  /** Packages in the environment whose versions are reported. */
  readonly packages: readonly string[];
}

const ONNX_RUNTIME: Runtime = {
  name: 'ONNX Runtime',
  script: join(import.meta.dirname, 'onnx_runtime.py'),
  packages: ['onnx', 'onnxruntime', 'numpy', 'iree-base-compiler'],
};

const OPENVINO: Runtime = {
  name: 'OpenVINO',
  script: join(import.meta.dirname, 'openvino_runtime.py'),
  packages: ['openvino', 'torch', 'torchvision', 'timm', 'transformers'],
};

/** The peers, by the names of their results. */
export type Peers = Readonly<Record<'onnxRuntime' | 'openVino', Peer>>;

/**
 * @param python interpreter of an environment with the runtimes
 * @param threads of a call
 */
export const openPeers = async (python: string, threads: number): Promise<Peers> => ({
  onnxRuntime: await openPeer(ONNX_RUNTIME, python, threads),
  openVino: await openPeer(OPENVINO, python, threads),
});

export const versionsOf = ({ onnxRuntime, openVino }: Peers): object => ({
  ...onnxRuntime.versions,
  ...openVino.versions,
});

async function openPeer({ name, script, packages }: Runtime, python: string, threads: number): Promise<Peer> {
  const ask = (command: string, argv: readonly (string | number)[]) =>
    runPython(python, [script, command, ...argv.map(String)], `${name} failed (${command})`);
  return {
    versions: JSON.parse(await ask('versions', packages)) as Record<string, string>,
    async run({ onnx, inputs }, results, folder) {
      const own = join(folder, name);
      mkdirSync(own);
      await ask('run', [onnx, threads, own, ...inputs]);
      return Array.from({ length: results }, (_, i) => join(own, `${i}.bin`));
    },
    async draw({ onnx, inputs }, original, count, folder) {
      mkdirSync(folder);
      await ask('draw', [onnx, threads, original, count, folder, ...inputs]);
      const pathsOf = (name: string) => Array.from({ length: count }, (_, i) => join(folder, `${i}.${name}`));
      const [results, originals] = [pathsOf('bin'), pathsOf('original.bin')];
      return results.map((result, i) => ({
        inputs: inputs.map((_, at) => join(folder, `${i}.${at}.npy`)),
        ...{ result, original: originals[i]! },
      }));
    },
    async time({ onnx, inputs }, { repetitions, minSeconds }) {
      const text = await ask('time', [onnx, threads, repetitions, minSeconds, ...inputs]);
      return undisturbed(JSON.parse(text) as number[]);
    },
  };
}
