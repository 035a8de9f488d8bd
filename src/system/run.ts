// Running the real compiler: as a child when its outcome decides what comes next, or in our place when it
// does not. Either way the user sees what the compiler alone would have shown: its output, its exit code,
// its death by signal.
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants as system, tmpdir } from 'node:os';
import { join } from 'node:path';
import { become, IGNORED_BY_NODE, stopIgnoring } from './become.ts';
import { writeSlices } from './bytes.ts';
import { startChild, type Child, type ChildEnd, type ChildOptions } from './child.ts';
import { removeScratchFolders } from './scratch.ts';
import { messageOf } from './tell.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface RunOptions extends Pick<ChildOptions, 'env' | 'limits'> {
  /** Bytes for the child's stdin; without them it has ours. */
  readonly stdin?: Uint8Array | undefined;
  /** Keep stdout and stderr instead of passing them on. */
  readonly capture: boolean;
}

export interface RunResult extends ChildEnd {
  /** The last signal that we got and passed on while it ran: the user wants everything to stop. */
  readonly forwarded: NodeJS.Signals | null;
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs the compiler and waits for it. Signals that ask for an end are passed on to it, and are reported in
 * the result instead of ending this process. Rejects only when the child cannot be started.
 */
export async function runCompiler(
  executable: string,
  argv: readonly string[],
  { stdin, capture, ...options }: RunOptions,
): Promise<RunResult> {
  // Before the child exists: a signal that comes while it starts must not end us and leave it behind.
  let child: Child | undefined;
  let forwarded: NodeJS.Signals | null = null;
  const forward = (signal: NodeJS.Signals): void => {
    forwarded = signal;
    child?.kill(signal);
  };
  for (const signal of forwardedSignals) process.on(signal, forward);
  try {
    // The shell that becomes it would only say so on stderr.
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

/** Ends this process the way the child ended: with its exit code, or by the same signal. */
export function exitLike(result: Pick<RunResult, 'code' | 'signal' | 'forwarded'>): never {
  removeScratchFolders();
  const signal = result.signal ?? result.forwarded;
  if (signal === null) process.exit(result.code ?? 1);
  if (IGNORED_BY_NODE.includes(signal)) stopIgnoring();
  // Without listeners a signal does what it does by default.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Another thread may take the signal a moment later; one that never kills is told as shells tell it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  process.exit(128 + system.signals[signal]);
}

/**
 * Becomes the compiler where that is possible (see {@link become}). Elsewhere it runs as a child, and this process ends
 * the same way.
 */
export async function replaceProcess(
  executable: string,
  argv: readonly string[],
  env: Environment,
): Promise<never> {
  // Nobody comes back here to tidy up.
  removeScratchFolders();
  become(executable, argv, env);
  return exitLike(await runCompiler(executable, argv, { env, capture: false }));
}

/**
 * Replaces this process with a compiler that reads stdin, after we have read stdin ourselves and could not start a child. The bytes
 * go into a file that becomes stdin. If that fails, exits with 1: with an empty stdin the compiler would succeed.
 * @param problem the error of starting a child
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
