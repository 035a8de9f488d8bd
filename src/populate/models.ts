// Resolves paths, folders and patterns to model files.
import { globSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../system/user-error.ts';

/** File names of MLIR text, MLIR bytecode and ONNX models. */
const MODEL = /\.(?:mlir|mlirbc|bc|onnx)$/;

/**
 * The files of paths: a file itself, all models below a folder, or the matches of a pattern. Each file once.
 * @throws UserError for a path without a file
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
    throw new UserError(`${path}: no model found: models end in .mlir, .mlirbc, .bc or .onnx`);
  return found.toSorted();
}

const modelsBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && MODEL.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
