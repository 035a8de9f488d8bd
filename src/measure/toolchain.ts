// What measuring needs of the outside world: the compiler, the runtime's tools, and how to run one of them.
import { startChild, type Limit } from '../system/child.ts';
import { afterSeconds, onAbort, withMemory } from '../system/limits.ts';
import { memoryBytes } from '../system/processor.ts';
import type { Semaphore } from '../system/semaphore.ts';
import type { Release } from '../compiler/release.ts';
import type { Device } from '../backend/device.ts';

export interface Toolchain {
  /** The real iree-compile. */
  readonly compiler: string;
  /** How many of it may run at once, whatever they compile. */
  readonly compiles: Semaphore;
  readonly release: Release;
  /** Flags that every candidate is compiled with. */
  readonly flags: readonly string[];
  /** `iree-benchmark-module` and `iree-run-module`. */
  readonly benchmarkModule: string;
  readonly runModule: string;
  readonly device: Device;
  /** Folder for modules and outputs; the caller removes it. */
  readonly workDirectory: string;
  /** Folder for modules that candidates of all workloads take; it may be kept. On the same disk as `workDirectory`. */
  readonly commonDirectory: string;
  /** Stops whatever runs when the user interrupts or the time is up. */
  readonly signal: AbortSignal;
}

export interface ToolResult {
  readonly ok: boolean;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** One line that says how it ended, for trials. */
  readonly ending: string;
}

/** Measuring was stopped from outside: the user interrupted, or the budget is spent. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/**
 * KiB of memory that one tool may have: half of the machine's. A candidate that wants more fails, instead of taking the
 * machine down with it.
 */
const MEMORY_KIB = Math.floor(memoryBytes() / 2 / 1024);

/** What else there is to say of a run. */
interface Running {
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: readonly Limit[];
}

/**
 * Runs one tool to its end, at most `timeoutSeconds` long. Whatever it has started ends with it, and all of it with us.
 * @throws StoppedError when `signal` fires
 */
export async function runTool(
  file: string,
  argv: readonly string[],
  timeoutSeconds: number,
  signal: AbortSignal,
  { env = {}, limits = [] }: Running = {},
): Promise<ToolResult> {
  const ended = await startChild('/bin/sh', withMemory(MEMORY_KIB, file, argv), {
    // The compiler's diagnostics are read by us, not by a person.
    env: { ...process.env, NO_COLOR: '1', ...env },
    // A compile that a Ctrl-C kills would pass for a configuration that does not compile.
    group: 'own',
    stdin: 'ignore',
    output: 'pipe',
    limits: [afterSeconds(timeoutSeconds), onAbort(signal), ...limits],
  }).ended;
  if (signal.aborted) throw new StoppedError('measuring was stopped');
  const timedOut = ended.cut === 'late' || ended.cut === 'hung';
  const ending = timedOut
    ? `took longer than ${timeoutSeconds.toFixed(1)} s`
    : ended.signal !== null
      ? `ended by ${ended.signal}`
      : `exit code ${ended.code ?? 'unknown'}`;
  const [stdout, stderr] = [ended.stdout.toString(), ended.stderr.toString()];
  return { ok: ended.code === 0, timedOut, stdout, stderr, ending };
}

/** Runs the compiler when it is its turn. @param timeoutSeconds from then on */
export const runCompiler = (
  { compiler, compiles, signal }: Pick<Toolchain, 'compiler' | 'compiles' | 'signal'>,
  argv: readonly string[],
  timeoutSeconds: number,
  running: Running = {},
): Promise<ToolResult> => compiles.run(() => runTool(compiler, argv, timeoutSeconds, signal, running));
