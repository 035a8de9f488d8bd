// Runs the real compiler: as a child if its outcome matters, otherwise in place of this process. Output, exit code and signal are the
// compiler's own.
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants as system, tmpdir } from 'node:os';
import { join } from 'node:path';
import { become, IGNORED_BY_NODE, stopIgnoring } from './become.ts';
import { writeSlices } from './bytes.ts';
import { startChild, type Child, type ChildEnd, type ChildOptions } from './child.ts';
import { removeScratchFolders } from './scratch.ts';
import { messageOf } from './tell.ts';
import type { Environment } from './recursion.ts';

export interface RunOptions extends Pick<ChildOptions, 'env' | 'limits' | 'stdoutTo'> {
  /** Bytes for the child's stdin; without it the child inherits stdin. */
  readonly stdin?: Uint8Array | undefined;
  /** Whether to capture stdout and stderr, or to pass them on. */
  readonly capture: boolean;
}

export interface RunResult extends ChildEnd {
  /** Last signal that this process forwarded to the child; null for none. */
  readonly forwarded: NodeJS.Signals | null;
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs the compiler and waits for it. Forwards SIGINT, SIGTERM and SIGHUP to it instead of ending. Rejects only if it cannot start. */
export async function runCompiler(
  executable: string,
  argv: readonly string[],
  { stdin, capture, ...options }: RunOptions,
): Promise<RunResult> {
  // Before the start, so that an early signal cannot end this process and leave the child.
  let child: Child | undefined;
  let forwarded: NodeJS.Signals | null = null;
  const forward = (signal: NodeJS.Signals): void => {
    forwarded = signal;
    child?.kill(signal);
  };
  for (const signal of forwardedSignals) process.on(signal, forward);
  try {
    // The watcher's shell would only report this on stderr.
    accessSync(executable, constants.X_OK);
    child = startChild(executable, argv, {
      ...options,
      group: 'ours',
      stdin: stdin ?? 'inherit',
      output: capture ? 'pipe' : 'inherit',
    });
    return { ...(await child.ended), forwarded };
  } finally {
    for (const signal of forwardedSignals) process.off(signal, forward);
  }
}

/** Ends this process like the child: with its exit code or by its signal. */
export function exitLike(result: Pick<RunResult, 'code' | 'signal' | 'forwarded'>): never {
  removeScratchFolders();
  const signal = result.signal ?? result.forwarded;
  if (signal === null) process.exit(result.code ?? 1);
  if (IGNORED_BY_NODE.includes(signal)) stopIgnoring();

  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Delivery may take a moment. If the signal does not kill, exit like a shell.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  process.exit(128 + system.signals[signal]);
}

/** Becomes the compiler (see {@link become}). If that is impossible, runs it as a child and ends like it. */
export async function replaceProcess(
  executable: string,
  argv: readonly string[],
  env: Environment,
): Promise<never> {
  // No code of this process runs afterwards.
  removeScratchFolders();
  become(executable, argv, env);
  return exitLike(await runCompiler(executable, argv, { env, capture: false }));
}

/** Runs a command in our place, or as a child if it needs bytes on stdin. */
export async function runInPlace(
  executable: string,
  { argv, stdin }: { readonly argv: readonly string[]; readonly stdin: Uint8Array | undefined },
  env: Environment,
): Promise<never> {
  if (stdin === undefined) return replaceProcess(executable, argv, env);
  try {
    return exitLike(await runCompiler(executable, argv, { env, stdin, capture: false }));
  } catch (error) {
    return replaceProcessFed(executable, argv, stdin, env, error);
  }
}

/**
 * Replaces this process by a compiler that reads stdin, after this process consumed stdin and failed to start a child. The bytes go to a
 * file that becomes stdin. Exits with 1 on failure, because with an empty stdin the compiler would succeed.
 * @param problem the error from starting a child
 */
export function replaceProcessFed(
  executable: string,
  argv: readonly string[],
  stdin: Uint8Array,
  env: Environment,
  problem: unknown,
): never {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-stdin-'));
    const path = join(folder, 'stdin');
    writeSlices(path, [stdin]);
    closeSync(0);
    // open() returns the lowest free descriptor.
    const isStdin = openSync(path, 'r') === 0;
    rmSync(folder, { recursive: true });
    if (isStdin) become(executable, argv, env);
  } catch {
    // The first error explains more.
  }
  writeSync(2, `iree-compile-tuned: ${executable} cannot be run: ${messageOf(problem)}\n`);
  process.exit(1);
}
