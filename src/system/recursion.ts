// The wrapper is called "iree-compile" by build systems, and so is what it calls. It must know itself wherever it
// lies, a child must not find it again, and when both ends call each other all the same, a counter in the environment
// ends that before the machine fills with processes.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { isExecutableFile, readHead } from './files.ts';
import { UserError } from './user-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** In the first 512 bytes of every launcher and shim, so that a copy of one is known wherever it lies. */
export const launcherMarker = 'iree-compile-tuned launcher';

/** How many wrappers deep this process is, as its environment says; 0 for a user's own call. */
const depthVariable = 'IREE_TUNED_DEPTH';

/** Set by a shim for the launcher: the real compiler that the shim was installed for. */
export const shimVariable = 'IREE_TUNED_SHIM_FOR';

/** One wrapper inside another is legitimate (a compiler's own helper commands may compile); more is a circle. */
const deepest = 2;

/** The wrapper was started by itself, by way of whatever it takes for the real compiler. */
export class RecursionError extends UserError {
  override readonly name = 'RecursionError';
}

/** Throws a {@link RecursionError} when the environment says that wrappers are calling each other. */
export function refuseRecursion(env: Environment): void {
  if (depthOf(env) < deepest) return;
  throw new RecursionError(
    'iree-compile-tuned: the real iree-compile that was found calls iree-compile-tuned again.\n' +
      'Set IREE_TUNED_COMPILER to the path of the real one.',
  );
}

/** Whether the file is a launcher or a shim of this program, or a copy of one. */
export function isLauncher(path: string): boolean {
  return readHead(path, 512).includes(launcherMarker);
}

/** Tools that lie beside an iree-compile, and that builds look for there: IREE's own, and those of LLVM that it brings. */
export function isToolName(name: string): boolean {
  return name.startsWith('iree-') || ['FileCheck', 'clang', 'lld', 'llvm-link', 'not'].includes(name);
}

/**
 * The environment for a child of the wrapper: the same, one level deeper, and without the folders in which it would
 * find the wrapper instead of the compiler. What is undefined in it is not set.
 */
export function childEnvironment(env: Environment): Record<string, string | undefined> {
  return {
    ...env,
    [depthVariable]: String(depthOf(env) + 1),
    [shimVariable]: undefined,
    IREE_TOOL_PATH: without(env['IREE_TOOL_PATH'], holdsUs),
    // A folder of PATH may hold more than us, which helpers of the compiler need; then only the counter is left.
    PATH: without(env['PATH'], (directory) => holdsUs(directory) && holdsToolsOnly(directory)),
  };
}

/** The directories of a search path; as in a shell, an empty one is the current directory. */
export function splitPath(value: string | undefined): string[] {
  return value ? value.split(':').map((directory) => directory || '.') : [];
}

/** The search path less some directories, undefined when none is left; one with nothing to take out as it was, to the byte. */
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

function holdsToolsOnly(directory: string): boolean {
  try {
    return readdirSync(directory).every((name) => name.startsWith('.') || isToolName(name));
  } catch {
    return false;
  }
}

function depthOf(env: Environment): number {
  const depth = Number(env[depthVariable] ?? 0);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}
