// Running the real compiler: as a child when its outcome decides what comes next, or in our place when it
// does not. Either way the user sees what the compiler alone would have shown: its output, its exit code,
// its death by signal.
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { constants as system } from 'node:os';
import { dismissAtExit, watched } from './guardian.ts';
import { isExecutableFile, readHead } from './pip.ts';
import { childEnvironment } from './recursion.ts';
import { removeScratchFolders } from './scratch.ts';
import { killWhenStalled, STALL_SECONDS } from './stall.ts';
import { startable } from './undecoded.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface RunOptions {
  readonly env: Environment;
  /** Bytes for the child's stdin; without them it has ours. */
  readonly stdin?: Uint8Array | undefined;
  /** Keep stdout and stderr instead of passing them on. */
  readonly capture: boolean;
  /** Kills it when it has done nothing for so long. */
  readonly stallSeconds?: number;
}

export interface RunResult {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last signal that we got and passed on while it ran: the user wants everything to stop. */
  readonly forwarded: NodeJS.Signals | null;
  /** It hung, and was killed for that. */
  readonly stalled: boolean;
  /** Empty unless captured. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs the compiler and waits for it. Signals that ask for an end are passed on to it, and are reported in
 * the result instead of ending this process. Rejects only when the child cannot be started.
 */
export function runCompiler(
  executable: string,
  argv: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const output = options.capture ? 'pipe' : 'inherit';
  const start = startable(executable, argv, childEnvironment(options.env));
  const settings: SpawnOptions = {
    env: start.env,
    stdio: [options.stdin === undefined ? 'inherit' : 'pipe', output, output, 'pipe'],
  };
  return new Promise((resolve, reject) => {
    // Before the child exists: a signal that comes while it starts must not end us and leave it behind.
    let child: ChildProcess | undefined;
    let forwarded: NodeJS.Signals | null = null;
    const forward = (signal: NodeJS.Signals): void => {
      forwarded = signal;
      child?.kill(signal);
    };
    for (const signal of forwardedSignals) process.on(signal, forward);
    const stopForwarding = (): void => {
      for (const signal of forwardedSignals) process.off(signal, forward);
    };
    const fail = (error: unknown): void => {
      stopForwarding();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    try {
      // The shell that becomes it would only say so on stderr.
      accessSync(executable, constants.X_OK);
      const command = watched(start.executable, start.argv, false);
      child = spawn(command.file, command.argv, settings);
      child.on('error', fail);
      dismissAtExit(child);
    } catch (error) {
      fail(error);
      return;
    }

    let stalled = false;
    const onStall = () => {
      stalled = true;
    };
    const stopWatching =
      options.stallSeconds === undefined ? undefined : killWhenStalled(child, options.stallSeconds, onStall);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A compiler that rejects its arguments never reads its input: the broken pipe is not the news.
    child.stdin?.on('error', () => undefined);
    // One call takes no more than 2 GiB.
    for (let start = 0; start < (options.stdin?.length ?? 0); start += 2 ** 30)
      child.stdin?.write(options.stdin!.subarray(start, start + 2 ** 30));
    child.stdin?.end();

    child.on('close', (code, signal) => {
      stopWatching?.();
      stopForwarding();
      const output = { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
      resolve({ code, signal, forwarded, stalled, ...output });
    });
  });
}

/**
 * Asks the compiler something of our own: its output is kept, it has no input but `stdin`, and it is killed when it
 * hangs. A signal that asks for an end meanwhile ends this process too.
 */
export async function askCompiler(
  executable: string,
  argv: readonly string[],
  { env, stdin = new Uint8Array() }: Pick<RunOptions, 'env' | 'stdin'>,
): Promise<RunResult> {
  const options = { env, stdin, capture: true, stallSeconds: STALL_SECONDS };
  const result = await runCompiler(executable, argv, options);
  if (result.forwarded !== null) exitLike({ code: null, signal: result.forwarded, forwarded: null });
  return result;
}

/** Ends this process the way the child ended: with its exit code, or by the same signal. */
export function exitLike(result: Pick<RunResult, 'code' | 'signal' | 'forwarded'>): never {
  removeScratchFolders();
  const signal = result.signal ?? result.forwarded;
  if (signal === null) process.exit(result.code ?? 1);
  if (ignoredByNode.includes(signal)) stopIgnoring();
  // Without listeners a signal does what it does by default.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Another thread may take the signal a moment later; one that never kills is told as shells tell it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  process.exit(128 + system.signals[signal]);
}

/** What Node sets to be ignored when it starts, which would be handed on to the compiler. */
const ignoredByNode: readonly NodeJS.Signals[] = ['SIGPIPE', 'SIGXFSZ'];

/** A signal with a listener is back to its default in the program that this process becomes. */
function stopIgnoring(): void {
  for (const signal of ignoredByNode) process.on(signal, () => undefined);
}

/**
 * Becomes the compiler: same process id, no Node left beside it. Where that is impossible (no `process.execve`,
 * a script, a very long command line) it runs as a child and this process ends the same way. Nothing that
 * was registered for the exit of this process runs. Do not touch `process.stdout` before: it would leave a
 * pipe non-blocking, which the compiler does not expect; write with `fs.writeSync`.
 */
export async function replaceProcess(
  executable: string,
  argv: readonly string[],
  env: Environment,
): Promise<never> {
  const start = startable(executable, argv, childEnvironment(env));
  if (canBecome(start.executable, start.argv)) {
    stopIgnoring();
    // Node does this when it ends; it never does.
    const { flushCompileCache, getCompileCacheDir } = process.getBuiltinModule('node:module');
    if (getCompileCacheDir() !== undefined) flushCompileCache();
    process.execve?.(start.executable, [start.executable, ...start.argv], start.env);
  }
  return exitLike(await runCompiler(executable, argv, { env, capture: false }));
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
