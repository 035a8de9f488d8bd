// `iree-tuned shim`: writes a folder that replaces the folder of an iree-compile, with shims of the compiler and of its other tools.
import { lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { FoundCompiler } from '../../compiler/find.ts';
import { isPipScript } from '../../compiler/pip.ts';
import { compilerOf } from '../../populate/site.ts';
import { isExecutableFile, namesIn, readHead, realpathOr } from '../../system/files.ts';
import { makeFolder } from '../../system/folder.ts';
import { packageRoot } from '../../system/package-root.ts';
import { isLauncher, isToolName } from '../../system/recursion.ts';
import { shellWord } from '../../system/shell-word.ts';
import { removeLeftovers, replaceFile } from '../../system/temporary-files.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand } from '../command.ts';
import { sentences } from '../output.ts';
import { compilerShim, siblingShim } from './text.ts';

export const shim = new CliCommand(
  'shim',
  'write a folder with a tuned iree-compile and the other tools of the compiler, for build systems that expect such a folder',
)
  .argument('<dir>', 'path of the folder')
  .option('--force', 'overwrite files of other programs')
  .json('print the result as JSON')
  .examples(
    ['iree-tuned shim ~/iree-shim', 'then: export PATH=~/iree-shim:"$PATH"'],
    ['iree-tuned --compiler ~/iree/bin/iree-compile shim ~/shim', 'for another compiler'],
  )
  .action((folder: string, { force = false }: { force?: boolean }, command: CliCommand) => {
    const directory = resolve(folder);
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new UserError(`${directory} is a file: name a folder`);
    const launcher = join(packageRoot, 'bin', 'iree-compile-tuned');
    const compiler = compilerOf(command.surroundings());
    const installed = installShim(directory, launcher, compiler, force);
    const { written, unchanged, removed } = installed;
    const siblings = written.length + unchanged.length - 1;
    const state = written.length === 0 ? 'is up to date' : `written, ${written.length} files`;
    command.print({ directory, compiler: compiler.executable, launcher, ...installed }, () =>
      [
        sentences(
          `${directory} ${state}: a tuned iree-compile, and ${siblings} other tools of ${compiler.executable}`,
          ...(removed.length > 0
            ? [`removed, because the compiler has lost them: ${removed.join(', ')}`]
            : []),
        ),
        'Use one of',
        `  export PATH=${shellWord(directory)}:"$PATH"`,
        `  export IREE_TOOL_PATH=${shellWord(directory)}      # the Python binding`,
        `  cmake -DIREE_HOST_BIN_DIR=${shellWord(directory)}  # IREE's CMake`,
      ].join('\n'),
    );
  });

/**
 * Writes shims of `compiler` and of its other tools into `directory`, an absolute path, and removes shims of missing tools.
 * @returns names of the written files, of the files that were right already, and of removed shims
 * @throws UserError if the folder has files of other programs and `force` is not set, or is the compiler's own
 */
export function installShim(directory: string, launcher: string, compiler: FoundCompiler, force: boolean) {
  const { executable } = compiler;
  if (isPipScript(readHead(executable)))
    throw new UserError(
      `the executable that ${executable} starts was not found; set IREE_TUNED_COMPILER to its path`,
    );
  for (const path of [executable, compiler.invokedAs])
    if ([path, realpathOr(path)].some((file) => realpathOr(dirname(file)) === realpathOr(directory)))
      throw new UserError(`${directory} is the folder of the real iree-compile; choose another folder`);

  const shims = new Map([['iree-compile', compilerShim(launcher, executable, directory)]]);
  for (const [name, tool] of siblingsOf(compiler)) shims.set(name, siblingShim(name, tool, directory));

  const there = namesToReplace(directory);
  const foreign = there.filter((name) => shims.has(name) && !isLauncher(join(directory, name)));
  const folders = foreign.filter((name) => lstatSync(join(directory, name)).isDirectory());
  if (folders.length > 0 || (foreign.length > 0 && !force))
    throw new UserError(
      `${directory} has ${(folders.length > 0 ? folders : foreign).join(', ')} already, not written by iree-tuned;` +
        (folders.length > 0 ? ' choose another folder' : ' choose another folder, or overwrite with --force'),
    );

  const changed = [...shims].filter(([name, text]) => !isFileWith(join(directory, name), text));
  const removed = there.filter((name) => !shims.has(name) && isShim(join(directory, name)));
  try {
    makeFolder(directory);
    for (const [name, text] of changed) writeShim(join(directory, name), text);
    for (const name of removed) rmSync(join(directory, name));
  } catch (error) {
    throw new UserError(`${directory} cannot be written: ${(error as Error).message}`);
  }
  const written = changed.map(([name]) => name);
  return { written, unchanged: [...shims.keys()].filter((name) => !written.includes(name)), removed };
}

/** Absolute paths of the installation's tools by name, without `iree-compile`. */
export function siblingsOf({ executable, invokedAs }: FoundCompiler): ReadonlyMap<string, string> {
  const packages = join(dirname(executable), '..', '..');
  const found = new Map<string, string>();
  const add = (directory: string, isWanted: (name: string) => boolean) => {
    for (const name of namesIn(directory).sort()) {
      const path = join(directory, name);
      if (name !== 'iree-compile' && !found.has(name) && isWanted(name) && isSibling(path))
        found.set(name, path);
    }
  };
  add(dirname(executable), isToolName);
  // pip installs executables in site-packages/iree. Its scripts are slower.
  add(join(packages, '_runtime_libs'), isToolName);
  // pip's scripts share their folder with other programs, such as a clang.
  for (const directory of [dirname(invokedAs), dirname(realpathOr(invokedAs))])
    add(directory, (name) => name.startsWith('iree-'));
  return found;
}

function isSibling(path: string): boolean {
  if (!isExecutableFile(path) || isLauncher(path)) return false;
  // Such a script searches IREE_TOOL_PATH for its tool, and would find its own shim.
  return !/^from iree\.compiler\.tools\.scripts\b/m.test(readHead(path));
}

/** Renames a complete file: a shell of another build may be reading the old one. */
function writeShim(path: string, text: string): void {
  removeLeftovers(path);
  // All users of the folder may compile.
  replaceFile(path, text, 0o755);
}

/** Names in a folder that need not exist. */
function namesToReplace(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new UserError(`${directory} cannot be read: ${(error as Error).message}`);
  }
}

const isRealFile = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

function isFileWith(path: string, text: string): boolean {
  return isRealFile(path) && (lstatSync(path).mode & 0o777) === 0o755 && readFileSync(path, 'utf8') === text;
}

const isShim = (path: string) =>
  isRealFile(path) && isLauncher(path) && /iree-tuned (?:install-)?shim/.test(readHead(path, 512));
