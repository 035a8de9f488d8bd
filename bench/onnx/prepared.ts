// Prepares ONNX models for all contestants: static shapes, inputs, and an import as MLIR.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../shared/arguments.ts';
import { modelFolder, runPython } from '../shared/exporter.ts';
import { root } from '../shared/workplace.ts';

/** A requested model, not checked yet. */
export interface Request {
  /** Name in the table. */
  readonly name: string;
  /** Name of the model, the same with and without an archive. */
  readonly model: string;
  /** `light:` and a name, or the path of a file. */
  readonly source: string;
  /** Whether the weights are parameters in an archive instead of constants. */
  readonly isArchive: boolean;
}

export interface Prepared {
  /** Path of the static ONNX model. */
  readonly onnx: string;
  /** Path of the same as MLIR in the torch dialect, with one function, named after the graph. */
  readonly program: string;
  /** Paths of .npy files, one for each input. */
  readonly inputs: readonly string[];
  /** More flags of the runtime's tools. */
  readonly run: readonly string[];
}

const script = (name: string) => join(root, 'bench', 'onnx', name);
export const requirements = script('requirements.txt');
const exporter = script('export.py');
const sources = [exporter, script('light_models.py'), requirements];

/** Names of the models in the onnx package. @param python of an environment with the requirements */
export async function lightModels(python: string): Promise<string[]> {
  return JSON.parse(await runPython(python, [exporter], 'export.py failed')) as string[];
}

/**
 * The requests of a command line.
 * @param models names of light models, and paths of files; empty for all light models
 * @param withArchives whether to add each model with its weights in an archive
 */
export function requestsFor(
  models: readonly string[],
  light: readonly string[],
  withArchives: boolean,
): Request[] {
  return (models.length === 0 ? light : models).flatMap((given) => {
    const isLight = light.includes(given);
    const model = isLight ? given : basename(given, '.onnx');
    const source = isLight ? `light:${given}` : given;
    const request = { name: model, model, source, isArchive: false };
    return withArchives ? [request, { ...request, name: `${model}-archive`, isArchive: true }] : [request];
  });
}

/**
 * Makes the files of a model, or finds them in `.cache/onnx`.
 * @param sizes of named dimensions
 * @throws BenchError when the file is missing, is not a model, or cannot be imported
 */
export async function prepare(
  { model, source, isArchive }: Request,
  sizes: Readonly<Record<string, number>>,
  light: readonly string[],
  python: string,
): Promise<Prepared> {
  if (!source.startsWith('light:')) checkFile(source, light);
  const folder = join(modelFolder('onnx', sources), await folderName(model, source, sizes));
  mkdirSync(folder, { recursive: true });
  const about = join(folder, 'model.json');
  const onnx = join(folder, 'model.onnx');
  if (!existsSync(about)) {
    const dimensions = Object.entries(sizes).map(([name, size]) => `${name}=${size}`);
    await runPython(python, [exporter, folder, source, ...dimensions], source);
  }
  const kind = isArchive ? 'archive' : 'constants';
  const program = join(folder, `${kind}.mlir`);
  const archive = join(folder, 'archive.irpa');
  if (!existsSync(program)) {
    const part = `${program}.part`;
    const weights = isArchive ? ['--externalize-params', '--save-params-to', archive] : [];
    const argv = ['-m', 'iree.compiler.tools.import_onnx', onnx, '-o', part, ...weights];
    await runPython(python, argv, `${source}: it cannot be imported by ${python} ${argv.join(' ')}`);
    // Rename last, so that an existing file is complete, and its archive too.
    renameSync(part, program);
  }
  const { inputs } = JSON.parse(readFileSync(about, 'utf8')) as Pick<Prepared, 'inputs'>;
  return { onnx, program, inputs, run: isArchive ? [`--parameters=model=${archive}`] : [] };
}

/** @throws BenchError when the path is not a file */
export function checkFile(path: string, light: readonly string[]): void {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status?.isFile()) return;
  const what = status === undefined ? 'there is no such file' : 'it is not a file';
  throw new BenchError(`${path}: ${what}; give the path of an .onnx file, or one of ${light.join(', ')}`);
}

/** The name depends on the file's content and on the sizes. */
async function folderName(
  model: string,
  source: string,
  sizes: Readonly<Record<string, number>>,
): Promise<string> {
  if (source.startsWith('light:')) return source.replace(':', '-');
  const digest = createHash('sha256').update(JSON.stringify(Object.entries(sizes).sort()));
  await pipeline(createReadStream(source), digest);
  return `${model}-${digest.digest('hex').slice(0, 12)}`;
}
