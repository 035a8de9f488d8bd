// Becoming another program: the usual end of a build, and all of it that a hit needs.
import { accessSync, constants } from 'node:fs';
import { isExecutableFile, readHead } from './files.ts';
import { childEnvironment } from './recursion.ts';
import { startable } from './undecoded.ts';

/**
 * Becomes the compiler: same process id, no Node left beside it. Returns only where that is impossible (no
 * `process.execve`, a script, a very long command line). Nothing that was registered for the exit of this process runs.
 * Do not touch `process.stdout` before: it would leave a pipe non-blocking, which the compiler does not expect; write
 * with `fs.writeSync`.
 */
export function become(
  executable: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const start = startable(executable, argv, childEnvironment(env));
  if (!canBecome(start.executable, start.argv)) return;
  stopIgnoring();
  // Node does this when it ends; it never does.
  const { flushCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
  if (getCompileCacheDir() !== undefined) flushCompileCache();
  process.execve?.(start.executable, [start.executable, ...start.argv], start.env);
}

/** What Node sets to be ignored when it starts, which would be handed on to the compiler. */
export const IGNORED_BY_NODE: readonly NodeJS.Signals[] = ['SIGPIPE', 'SIGXFSZ'];

/** A signal with a listener is back to its default in the program that this process becomes. */
export function stopIgnoring(): void {
  for (const signal of IGNORED_BY_NODE) process.on(signal, () => undefined);
}

/**
 * Whether `execve` is certain to work. A failing one cannot be caught: Node aborts with a stack trace, and the
 * build with it.
 */
function canBecome(executable: string, argv: readonly string[]): boolean {
  if (process.execve === undefined || !isExecutableFile(executable)) return false;
  const length = argv.reduce((sum, argument) => sum + argument.length, 0);
  // Linux takes 128 KiB in one argument and 2 MiB in all; far below that there is nothing to work out.
  if (length > 64 * 1024) return false;
  const head = readHead(executable, 4);
  // ELF, or Mach-O thin and universal, as read byte by byte.
  if (!['\x7fELF', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'].includes(head)) return false;
  try {
    accessSync(executable, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
