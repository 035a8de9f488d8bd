// Replaces this process by the compiler: the usual end of a build.
import { accessSync, constants } from 'node:fs';
import { resultOr } from './result-or.ts';
import { isExecutableFile, readHead } from './files.ts';
import { childEnvironment } from './recursion.ts';
import { startable } from './undecoded.ts';

/**
 * Becomes the compiler, with the same process id. Returns only if that is impossible: no `process.execve`, a script, a very long command
 * line. Exit handlers do not run. Do not touch `process.stdout` before: it makes a pipe non-blocking, which the compiler does not
 * expect. Write with `fs.writeSync`.
 */
export function become(
  executable: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const start = startable(executable, argv, childEnvironment(env));
  if (!canBecome(start.executable, start.argv)) return;
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
function canBecome(executable: string, argv: readonly string[]): boolean {
  if (process.execve === undefined || !isExecutableFile(executable)) return false;
  const length = argv.reduce((sum, argument) => sum + argument.length, 0);
  // Far below Linux's limits of 128 KiB for one argument and 2 MiB in all.
  if (length > 64 * 1024) return false;
  const head = readHead(executable, 4);
  // ELF, thin Mach-O and universal Mach-O.
  if (!['\x7fELF', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'].includes(head)) return false;
  return resultOr(() => {
    accessSync(executable, constants.X_OK);
    return true;
  }, false);
}
