// Prepares ONNX models for all contestants: static shapes, inputs, and an import as MLIR.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../shared/arguments.ts';
import { modelFolder, runPython } from '../shared/exporter.ts';
import { requirements } from '../shared/peers/bench.ts';
import { importOnnx } from '../shared/peers/import.ts';
import type { Prepared } from '../shared/peers/peer.ts';
import { root } from '../shared/workplace.ts';
import { isFile, type Model } from './models.ts';

const script = (name: string) => join(root, 'bench', 'zoo', name);
const exporter = script('export.py');
const sources = [
  exporter,
  script('light_models.py'),
  script('quantized_models.py'),
  script('tosa_models.py'),
  script('pt2e_models.py'),
  script('networks.py'),
  requirements,
];

/**
 * Makes the files of a model, or finds them in `.cache/zoo`.
 * @param python of an environment with the requirements
 * @throws BenchError when the model cannot be exported, downloaded or imported, or its file is missing
 */
export async function prepare(model: Model, python: string): Promise<Prepared> {
  const { name, source, dimensions } = model;
  if (isFile(source)) checkFile(source);
  const folder = join(modelFolder('zoo', sources), await folderName(model));
  mkdirSync(folder, { recursive: true });
  const about = join(folder, 'model.json');
  const onnx = join(folder, 'model.onnx');
  if (!existsSync(about)) {
    const sizes = Object.entries(dimensions).map(([dimension, size]) => `${dimension}=${size}`);
    await runPython(python, ['-W', 'ignore', exporter, folder, source, ...sizes], name);
  }
  const program = join(folder, 'model.mlir');
  await importOnnx(python, onnx, program, name);
  const { inputs } = JSON.parse(readFileSync(about, 'utf8')) as Pick<Prepared, 'inputs'>;
  const original = join(folder, 'original.onnx');
  return {
    ...{ onnx, program, inputs, function: null, flags: [], rowSize: null },
    original: existsSync(original) ? original : null,
  };
}

/** @throws BenchError when the path is not a file */
export function checkFile(path: string): void {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status?.isFile()) return;
  const what = status === undefined ? 'there is no such file' : 'it is not a file';
  throw new BenchError(`${path}: ${what}; give the path of an .onnx file`);
}

/** The name depends on the source, the content of a file, and the sizes. */
async function folderName({ name, source, dimensions }: Model): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify([source, Object.entries(dimensions).sort()]));
  if (isFile(source)) await pipeline(createReadStream(source), digest);
  return `${basename(name).replace(':', '-')}-${digest.digest('hex').slice(0, 12)}`;
}
