// `iree-tuned shim`
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installShim } from './shim/install.ts';
import { quote } from './shim/text.ts';
import { packageRoot } from '../system/package-root.ts';
import { UserError } from '../system/user-error.ts';
import { CliCommand } from './command.ts';
import { compilerOf, surroundingsOf } from './context.ts';
import { sentences } from './output.ts';

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
    const compiler = compilerOf(surroundingsOf(command));
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
        `  export PATH=${quote(directory)}:"$PATH"`,
        `  export IREE_TOOL_PATH=${quote(directory)}      # the Python binding`,
        `  cmake -DIREE_HOST_BIN_DIR=${quote(directory)}  # IREE's CMake`,
      ].join('\n'),
    );
  });
