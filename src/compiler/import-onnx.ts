// ONNX models as inputs of commands: IREE's importer converts them to MLIR.
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lastLine } from '../system/format.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { UserError } from '../system/user-error.ts';
import { askCompiler } from './ask.ts';
import { findTool, type FoundCompiler } from './find.ts';
import type { Environment } from '../system/recursion.ts';

const IMPORTER = 'iree-import-onnx';

/** Where to find the importer and to write its output. */
interface Place {
  readonly env: Environment;
  readonly root: string;
  readonly cacheDirectory: string;
}

export const isOnnx = (path: string): boolean => /\.onnx$/i.test(path);

/**
 * Imports an ONNX model.
 * @returns path of its MLIR, which this process removes at its end
 * @throws UserError if there is no importer, or the importer fails
 */
export async function importOnnx(
  path: string,
  compiler: Pick<FoundCompiler, 'executable' | 'invokedAs'>,
  { env, root, cacheDirectory }: Place,
): Promise<string> {
  const importer = findTool(IMPORTER, compiler, env, { root });
  const instead = `convert the model with ${IMPORTER} yourself, and give the MLIR file`;
  if (importer === undefined)
    throw new UserError(
      `${path}: an ONNX model needs ${IMPORTER}, which is neither beside the compiler nor in PATH: pip install 'iree-base-compiler[onnx]', or ${instead}`,
    );
  const folder = makeScratchFolder(cacheDirectory, 'onnx');
  if (folder === null)
    throw new UserError(`${path}: nothing can be written to the cache folder ${cacheDirectory}; ${instead}`);
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const made = join(folder, basename(path).replace(/onnx$/i, 'mlir'));
  const { code, stderr } = await askCompiler(importer, [path, '-o', made], { env });
  if (code === 0) return made;
  const said = lastLine(stderr.toString());
  const module = /No module named '(\w+)'|the `(\w+)` Python package/.exec(said)?.slice(1).find(Boolean);
  const why = module === undefined ? said : `it lacks the Python package ${module}: pip install ${module}`;
  throw new UserError(`${path}: ${IMPORTER} fails: ${why}`);
}
