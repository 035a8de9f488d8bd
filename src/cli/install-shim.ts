// `iree-tuned install-shim DIR`: the wrapper under the compiler's name, for whoever looks for it in a folder.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command as Program } from 'commander';
import { findCompiler } from '../compiler/find.ts';
import { installShim } from '../shim/install.ts';
import { quote } from '../shim/text.ts';
import { UserError } from '../system/user-error.ts';
import { surroundingsOf } from './context.ts';
import { say } from './output.ts';
import { packageRoot } from '../system/package-root.ts';

export function installShims(
  folder: string,
  options: { force?: boolean; json?: boolean },
  program: Program,
): void {
  const { env, settings, root, cacheDirectory } = surroundingsOf(program);
  const directory = resolve(folder);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UserError(`${directory} is a file: name a folder, which is made when it is not there`);
  const launcher = join(packageRoot, 'bin', 'iree-compile-tuned');
  const compiler = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  const installed = installShim(directory, launcher, compiler, options.force === true);
  const { written, unchanged, removed } = installed;
  if (options.json === true) {
    console.log(
      JSON.stringify({ directory, compiler: compiler.executable, launcher, ...installed }, null, 2),
    );
    return;
  }
  const siblings = written.length + unchanged.length - 1;
  const state = written.length === 0 ? 'is up to date' : `written, ${written.length} files`;
  say(`${directory} ${state}: iree-compile, tuned, and the ${siblings} tools beside ${compiler.executable}`);
  if (removed.length > 0) say(`removed: ${removed.join(', ')}, which there are no more`);
  console.log(
    [
      'Use it as one of',
      `  export PATH=${quote(directory)}:"$PATH"`,
      `  export IREE_TOOL_PATH=${quote(directory)}      # the Python binding`,
      `  cmake -DIREE_HOST_BIN_DIR=${quote(directory)}  # IREE's CMake`,
    ].join('\n'),
  );
}
