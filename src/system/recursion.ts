// Protects against endless recursion: the wrapper and the real compiler may both be called `iree-compile`. A marker identifies launchers,
// children get paths without them, and a counter in the environment ends any remaining circle.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { resultOr } from './result-or.ts';
import { isExecutableFile, readHead } from './files.ts';
import { UserError } from './user-error.ts';

/** Variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Marker in the first 512 bytes of every launcher and shim. */
export const launcherMarker = 'iree-compile-tuned launcher';

/** Variable with the number of wrappers above this process. */
const depthVariable = 'IREE_TUNED_DEPTH';

/** Variable from a shim for the launcher: path of the shim's real compiler. */
export const shimVariable = 'IREE_TUNED_SHIM_FOR';

/** Deepest allowed nesting, because helper commands of a compiler may compile. */
const deepest = 2;

/** The wrapper started itself: the program found as the real compiler is the wrapper. */
export class RecursionError extends UserError {
  override readonly name = 'RecursionError';
}

/** @throws RecursionError if the counter reached the limit */
export function refuseRecursion(env: Environment): void {
  if (depthOf(env) < deepest) return;
  throw new RecursionError(
    'iree-compile-tuned: the real iree-compile that was found calls iree-compile-tuned again.\n' +
      'Set IREE_TUNED_COMPILER to the path of the real one.',
  );
}

/** Whether a file is a launcher or shim of this program. */
export function isLauncher(path: string): boolean {
  return readHead(path, 512).includes(launcherMarker);
}

/** Whether a name is a tool that IREE installs beside iree-compile. */
export function isToolName(name: string): boolean {
  return name.startsWith('iree-') || ['FileCheck', 'clang', 'lld', 'llvm-link', 'not'].includes(name);
}

/** Environment of a child: one level deeper, and without folders in which it would find the wrapper. */
export function childEnvironment(env: Environment): Record<string, string | undefined> {
  return {
    ...env,
    [depthVariable]: String(depthOf(env) + 1),
    [shimVariable]: undefined,
    IREE_TOOL_PATH: without(env['IREE_TOOL_PATH'], holdsUs),
    // A folder with other programs stays, because the compiler may need them. The counter protects then.
    PATH: without(env['PATH'], (directory) => holdsUs(directory) && holdsToolsOnly(directory)),
  };
}

/** Directories of a search path. An empty one is the current directory, as in a shell. */
export function splitPath(value: string | undefined): string[] {
  return value ? value.split(':').map((directory) => directory || '.') : [];
}

/** The search path without some directories; undefined if none is left; unchanged if nothing is removed. */
function without(path: string | undefined, isUnwanted: (directory: string) => boolean): string | undefined {
  const directories = splitPath(path);
  const kept = directories.filter((directory) => !isUnwanted(directory));
  if (kept.length === directories.length) return path;
  return kept.length === 0 ? undefined : kept.join(':');
}

function holdsUs(directory: string): boolean {
  const path = resolve(directory, 'iree-compile');
  return isExecutableFile(path) && isLauncher(path);
}

const holdsToolsOnly = (directory: string): boolean =>
  resultOr(() => readdirSync(directory).every((name) => name.startsWith('.') || isToolName(name)), false);

function depthOf(env: Environment): number {
  const depth = Number(env[depthVariable] ?? 0);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}
