// The compiler and the runtime's tools for measuring, and how to run them.
import { startChild, type Limit } from '../system/child.ts';
import { afterSeconds, onAbort, withMemory } from '../system/limits.ts';
import { memoryBytes } from '../system/processor.ts';
import { brokenLink, UnreachableError } from '../runner/shell.ts';
import type { Semaphore } from '../system/semaphore.ts';
import { refuseBesideUnkillable, UnkillableError } from '../system/unkillable.ts';
import type { Release } from '../compiler/release.ts';
import type { Device } from '../backend/device.ts';

export interface Toolchain {
  /** The real iree-compile. */
  readonly compiler: string;
  /** Limits how many compilers run at once. */
  readonly compiles: Semaphore;
  readonly release: Release;
  /** Flags of every compile. */
  readonly flags: readonly string[];
  /** `iree-benchmark-module` and `iree-run-module`. */
  readonly benchmarkModule: string;
  readonly runModule: string;
  readonly device: Device;
  /** Folder for modules and outputs; the caller removes it. */
  readonly workDirectory: string;
  /** Folder of the modules that all workloads share; it may be kept. On the same disk as `workDirectory`. */
  readonly commonDirectory: string;
  /** Stops all tools when the user interrupts or the budget is spent. */
  readonly signal: AbortSignal;
}

export interface ToolResult {
  readonly ok: boolean;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** How the tool ended, in one line. */
  readonly ending: string;
}

/** The user interrupted the measuring, the budget is spent, or, as the cause, an UnkillableError or an UnreachableError. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/** Tells the seconds that are left of a limit that begins now. */
export function countdown(limitSeconds: number): () => number {
  const end = performance.now() + 1000 * limitSeconds;
  return () => (end - performance.now()) / 1000;
}

/** Memory limit of one tool, in KiB: half of the machine's, so that a candidate cannot exhaust the memory. */
const MEMORY_KIB = Math.floor(memoryBytes() / 2 / 1024);

/** More about one run of a tool. */
interface Running {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly limits?: readonly Limit[];
}

/**
 * Runs one tool for at most `timeoutSeconds`. All of its child processes end with the tool, and the tool ends with this process.
 * @throws StoppedError when `signal` fires, once a tool does not end, and if the machine of a runner is out of reach
 */
export async function runTool(
  file: string,
  argv: readonly string[],
  timeoutSeconds: number,
  signal: AbortSignal,
  { env = {}, limits = [] }: Running = {},
): Promise<ToolResult> {
  const run = async () => {
    refuseBesideUnkillable();
    return startChild('/bin/sh', withMemory(MEMORY_KIB, file, argv), {
      // Colours would break the parsing of diagnostics.
      env: { ...process.env, NO_COLOR: '1', ...env },
      // A compile that Ctrl-C kills would look like a configuration that does not compile.
      group: 'own',
      stdin: 'ignore',
      output: 'pipe',
      limits: [afterSeconds(timeoutSeconds), onAbort(signal), ...limits],
    }).ended;
  };
  const ended = await run().catch((cause: unknown) => {
    if (cause instanceof UnkillableError) throw new StoppedError(cause.message, { cause });
    throw cause;
  });
  if (signal.aborted) throw new StoppedError('measuring was stopped');
  const timedOut = ended.cut === 'late' || ended.cut === 'hung';
  const ending = timedOut
    ? `took longer than ${timeoutSeconds.toFixed(1)} s`
    : ended.signal !== null
      ? `ended by ${ended.signal}`
      : `exit code ${ended.code ?? 'unknown'}`;
  const [stdout, stderr] = [ended.stdout.toString(), ended.stderr.toString()];
  const broken = brokenLink(ended.code, stderr);
  if (broken !== null) throw new StoppedError(broken, { cause: new UnreachableError(broken) });
  return { ok: ended.code === 0, timedOut, stdout, stderr, ending };
}

/** Runs the compiler once `compiles` allows. @param timeoutSeconds without the wait; @throws StoppedError when the signal fires */
export const runCompiler = (
  { compiler, compiles, signal }: Pick<Toolchain, 'compiler' | 'compiles' | 'signal'>,
  argv: readonly string[],
  timeoutSeconds: number,
  running: Running = {},
): Promise<ToolResult> => compiles.run(() => runTool(compiler, argv, timeoutSeconds, signal, running));
