// What lies beside an iree-compile: a folder that takes the place of its folder must have these tools too.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FoundCompiler } from '../compiler/find.ts';
import { isExecutableFile, readHead, realpathOr } from '../system/files.ts';
import { isLauncher, isToolName } from '../system/recursion.ts';

/** The tools of the compiler's installation by name, `iree-compile` itself not among them; values are absolute paths. */
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
  // What pip installs: executables in site-packages/iree, and the scripts that start them, which would only be slower.
  add(join(packages, '_runtime_libs'), isToolName);
  // pip's scripts share their folder with whatever else there is: a clang there is none of IREE's.
  for (const directory of [dirname(invokedAs), dirname(realpathOr(invokedAs))])
    add(directory, (name) => name.startsWith('iree-'));
  return found;
}

function isSibling(path: string): boolean {
  if (!isExecutableFile(path) || isLauncher(path)) return false;
  // Such a script looks for its tool in IREE_TOOL_PATH, and would find the shim that started it.
  return !/^from iree\.compiler\.tools\.scripts\b/m.test(readHead(path));
}

function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
