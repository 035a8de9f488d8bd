// ONNX models as files that all contestants take: made static, with inputs, and imported as MLIR.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../shared/arguments.ts';
import { modelFolder, runPython } from '../shared/exporter.ts';
import { root } from '../shared/workplace.ts';

/** A model that somebody wants measured; nobody has looked at it. */
export interface Request {
  /** As rows show it. */
  readonly name: string;
  /** The same for both ways that weights may be kept. */
  readonly model: string;
  /** `light:` and a name, or the path of a file. */
  readonly source: string;
  /** Whether its weights are parameters from an archive, instead of constants of the program. */
  readonly isArchive: boolean;
}

export interface Prepared {
  /** Path of the static ONNX model. */
  readonly onnx: string;
  /** Path of the same as MLIR in the torch dialect, with one function, `main`. */
  readonly program: string;
  /** Paths of .npy files, one for each input. */
  readonly inputs: readonly string[];
  /** More flags that the program takes to run. */
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
 * The models of a command line.
 * @param models names of light models, and paths of files; none for all light models
 * @param withArchives whether each is also asked for with its weights in an archive
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
 * Makes the files of a model, or takes them from `.cache/onnx`.
 * @param sizes of dimensions that have names instead
 * @throws BenchError when the model is not there, is none, or cannot be imported
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
    // Where it is, it is complete, and so is its archive.
    renameSync(part, program);
  }
  const { inputs } = JSON.parse(readFileSync(about, 'utf8')) as Pick<Prepared, 'inputs'>;
  return { onnx, program, inputs, run: isArchive ? [`--parameters=model=${archive}`] : [] };
}

/** @throws BenchError */
export function checkFile(path: string, light: readonly string[]): void {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status?.isFile()) return;
  const what = status === undefined ? 'there is no such file' : 'it is no file';
  throw new BenchError(`${path}: ${what}; give the path of an .onnx file, or one of ${light.join(', ')}`);
}

/** Another content, or other sizes, make another folder. */
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
