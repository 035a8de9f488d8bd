// Replaces this process by the compiler: the usual end of a build.
import { accessSync, constants } from 'node:fs';
import { resultOr } from './result-or.ts';
import { isExecutableFile, readHead } from './files.ts';
import { childEnvironment, type Environment } from './recursion.ts';
import { startable } from './undecoded.ts';

/**
 * Becomes the compiler, with the same process id. Returns only if that is impossible: no `process.execve`, a script, too long arguments
 * and variables. Exit handlers do not run. Do not touch `process.stdout` before: it makes a pipe non-blocking, which the compiler does not
 * expect. Write with `fs.writeSync`.
 */
export function become(executable: string, argv: readonly string[], env: Environment): void {
  const start = startable(executable, argv, childEnvironment(env));
  if (!canBecome(start)) return;
  stopIgnoring();
  // Node flushes the cache at its exit, which never comes.
  const { flushCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
  if (getCompileCacheDir() !== undefined) flushCompileCache();
  process.execve?.(start.executable, [start.executable, ...start.argv], start.env);
}

/** Signals that Node ignores. The compiler would inherit that. */
export const IGNORED_BY_NODE: readonly NodeJS.Signals[] = ['SIGPIPE', 'SIGXFSZ'];

/** Restores default actions for the compiler: `execve` resets signals with a listener. */
export function stopIgnoring(): void {
  for (const signal of IGNORED_BY_NODE) process.on(signal, () => undefined);
}

/** Whether `execve` will succeed. Its failure aborts Node, and so the build. */
function canBecome(start: ReturnType<typeof startable>): boolean {
  const { executable } = start;
  if (process.execve === undefined || !isExecutableFile(executable) || !fits(start)) return false;
  const head = readHead(executable, 4);
  // ELF, thin Mach-O and universal Mach-O.
  if (!['\x7fELF', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'].includes(head)) return false;
  return resultOr(() => {
    accessSync(executable, constants.X_OK);
    return true;
  }, false);
}

/** In bytes, far below Linux's limits: 128 KiB for one argument, and at least as much for arguments and variables together. */
const SURELY_FITS = 64 * 1024;

/** Whether the system starts a program with these arguments and variables: they take little, or no more than those of this process. */
function fits({ executable, argv, env }: ReturnType<typeof startable>): boolean {
  const size = sizeOf([executable, ...argv], env);
  if (size <= SURELY_FITS) return true;
  const own = sizeOf([process.argv0, ...process.execArgv, ...process.argv.slice(1)], process.env);
  return size <= own && argv.every((text) => Buffer.byteLength(text) <= SURELY_FITS);
}

/** Bytes of arguments and variables with their pointers. The system copies the program's name twice. */
function sizeOf(argv: readonly string[], env: Environment): number {
  const variables = Object.entries(env).map(([name, value = '']) => `${name}=${value}`);
  const texts = [argv[0]!, ...argv, ...variables];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1 + 8, 0);
}
