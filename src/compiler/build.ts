// The build of a compiler: the content of its files. Patched builds and debug builds of one commit print the same version.
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { piecesOfFile } from '../system/bytes.ts';
import { linesIn, namesIn, readHead, realpathOr } from '../system/files.ts';
import { compilerFiles } from './identity.ts';

export interface Build {
  /** Ten hexadecimal digits of a digest of all files. */
  readonly digest: string;
  /** Whether a package manager installed the files from an index, and they have not changed since. */
  readonly isPublished: boolean;
}

/**
 * Reads the whole compiler, which takes half a second.
 * @returns null for a script without a library beside it: the compiler behind it is unknown
 * @throws errors of the file system
 */
export function readBuild(executable: string): Build | null {
  const { createHash, hash } = process.getBuiltinModule('node:crypto');
  const files = [...new Set(compilerFiles(executable).map(realpathOr))]
    .filter((path) => existsSync(path))
    .filter((path) => readHead(path, 2) !== '#!');
  if (files.length === 0) return null;
  const digests = files.map((path) => {
    const sum = createHash('sha256');
    for (const piece of piecesOfFile(path)) sum.update(piece);
    return sum.digest('base64url');
  });
  return {
    digest: hash('sha256', digests.join('\n')).slice(0, 10),
    isPublished: files.every((path, i) => isInstalled(path, digests[i]!)),
  };
}

/** Folder of the compiler's files below site-packages. */
const BELOW_PACKAGES = 'iree/compiler/_mlir_libs';

/** Whether a package from an index has this file. Python's `RECORD` lists the digests of files, and `direct_url.json` names another origin. */
function isInstalled(path: string, digest: string): boolean {
  const packages = join(dirname(path), relative(BELOW_PACKAGES, '.'));
  const line = `${relative(packages, path)},sha256=${digest},`;
  return namesIn(packages)
    .filter((name) => /^iree_(?:base_)?compiler-.*\.dist-info$/.test(name))
    .map((name) => join(packages, name))
    .some(
      (folder) =>
        !existsSync(join(folder, 'direct_url.json')) &&
        linesIn(join(folder, 'RECORD')).some((one) => one.startsWith(line)),
    );
}
