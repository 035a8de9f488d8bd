// The other tools of an iree-compile, which a folder of shims needs too.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FoundCompiler } from '../../compiler/find.ts';
import { isExecutableFile, readHead, realpathOr } from '../../system/files.ts';
import { isLauncher, isToolName } from '../../system/recursion.ts';

/** Absolute paths of the installation's tools by name, without `iree-compile`. */
export function siblingsOf({ executable, invokedAs }: FoundCompiler): ReadonlyMap<string, string> {
  const packages = join(dirname(executable), '..', '..');
  const found = new Map<string, string>();
  const add = (directory: string, isWanted: (name: string) => boolean) => {
    for (const name of filesOf(directory)) {
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

function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
