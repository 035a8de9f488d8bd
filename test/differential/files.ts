// The files to compile.
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Every `.mlir` and `.mlirbc` file under the folders, absolute, in a fixed order; or the file itself.
 * @param limit largest number of files, taken evenly from all folders
 * @throws the error of the file system for a missing path
 */
export function listInputs(paths: readonly string[], limit = Infinity): string[] {
  const files = [...new Set(paths.flatMap((path) => filesOf(resolve(path))))].sort();
  if (files.length <= limit) return files;
  return Array.from({ length: limit }, (_, i) => files[Math.floor((i * files.length) / limit)]!);
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.mlir(?:bc)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
