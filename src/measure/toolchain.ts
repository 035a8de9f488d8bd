// What measuring needs of the outside world: the compiler, the runtime's tools, and how to run one of them.
import { execa } from 'execa';
import { childEnvironment } from '../compiler/recursion.ts';
import type { Release } from '../space/render.ts';
import type { Device } from '../target/device.ts';

export interface Toolchain {
  /** The real iree-compile. */
  readonly compiler: string;
  readonly release: Release;
  /** Flags that every candidate is compiled with. */
  readonly flags: readonly string[];
  /** `iree-benchmark-module` and `iree-run-module`. */
  readonly benchmarkModule: string;
  readonly runModule: string;
  readonly device: Device;
  /** Folder for modules and outputs; the caller removes it. */
  readonly workDirectory: string;
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
 * Runs one tool to its end, at most `timeoutSeconds` long.
 * @throws StoppedError when `signal` fires
 */
export async function runTool(
  file: string,
  argv: readonly string[],
  timeoutSeconds: number,
  signal: AbortSignal,
  env: Readonly<Record<string, string>> = {},
): Promise<ToolResult> {
  const result = await execa(file, argv, {
    reject: false,
    stdin: 'ignore',
    timeout: Math.ceil(timeoutSeconds * 1000),
    killSignal: 'SIGKILL',
    cancelSignal: signal,
    // A group of its own: Ctrl-C reaches us alone, and we decide what it means. Otherwise a compile that it kills would
    // pass for a configuration that does not compile.
    detached: true,
    maxBuffer: 64 * 1024 * 1024,
    // The compiler's diagnostics are read by us, not by a person.
    env: childEnvironment({ ...process.env, NO_COLOR: '1', ...env }),
    extendEnv: false,
  });
  if (result.isCanceled) throw new StoppedError('measuring was stopped');
  const ending = result.timedOut
    ? `took longer than ${timeoutSeconds.toFixed(1)} s`
    : result.signal !== undefined
      ? `ended by ${result.signal}`
      : `exit code ${result.exitCode ?? 'unknown'}`;
  return {
    ok: result.exitCode === 0,
    timedOut: result.timedOut,
    stdout: result.stdout,
    stderr: result.stderr,
    ending,
  };
}
