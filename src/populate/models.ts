// The files that are meant by paths, folders and patterns.
import { globSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../system/user-error.ts';

/** File names of MLIR text, MLIR bytecode and ONNX models. */
const MODEL = /\.(?:mlir|mlirbc|bc|onnx)$/;

/**
 * Files by name as they are; of a folder, all models in and below it; of a pattern, what fits it. Each once.
 * @throws UserError for what leads to nothing
 */
export function modelFiles(given: readonly string[]): string[] {
  return [...new Set(given.flatMap(filesOf))];
}

function filesOf(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return [path];
  const found =
    stats?.isDirectory() === true ? modelsBelow(path) : /[*?[{]/.test(path) ? globSync(path) : null;
  if (found === null) throw new UserError(`${path}: there is no such file or folder`);
  if (found.length === 0)
    throw new UserError(`${path}: there is no model: no file that ends in .mlir, .mlirbc, .bc or .onnx`);
  return found.toSorted();
}

const modelsBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && MODEL.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
