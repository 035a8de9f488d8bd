// What measuring needs of the outside world: the compiler, the runtime's tools, and how to run one of them.
import { totalmem } from 'node:os';
import { execa } from 'execa';
import { startGuardian } from '../compiler/guardian.ts';
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
 * KiB of memory that one tool may have: half of the machine's. A candidate that wants more fails, instead of taking the
 * machine down with it. It is memory that a process could write to that counts, not what it reserves or maps to read.
 */
const MEMORY_KIB = Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 / 1024);

/** Becomes the tool. Where there is no such limit, or a lower one, it is left as it is. */
const LIMITED = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/**
 * Runs one tool to its end, at most `timeoutSeconds` long. Whatever it has started ends with it, and all of it with us.
 * @throws StoppedError when `signal` fires
 */
export async function runTool(
  file: string,
  argv: readonly string[],
  timeoutSeconds: number,
  signal: AbortSignal,
  env: Readonly<Record<string, string>> = {},
): Promise<ToolResult> {
  const guardian = startGuardian();
  const child = execa('/bin/sh', ['-c', LIMITED, String(MEMORY_KIB), file, ...argv], {
    reject: false,
    stdin: 'ignore',
    // A group of its own: Ctrl-C reaches us alone, and we decide what it means. Otherwise a compile that it kills would
    // pass for a configuration that does not compile.
    detached: true,
    maxBuffer: 64 * 1024 * 1024,
    // The compiler's diagnostics are read by us, not by a person.
    env: childEnvironment({ ...process.env, NO_COLOR: '1', ...env }),
    extendEnv: false,
  });
  if (child.pid !== undefined) guardian.watch(-child.pid);
  const cut = { late: false, stopped: false };
  const timer = setTimeout(() => {
    cut.late = true;
    killGroup(child.pid);
  }, timeoutSeconds * 1000);
  const stop = () => {
    cut.stopped = true;
    killGroup(child.pid);
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const result = await child;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  guardian.dismiss();
  if (cut.stopped) throw new StoppedError('measuring was stopped');
  const ending = cut.late
    ? `took longer than ${timeoutSeconds.toFixed(1)} s`
    : result.signal !== undefined
      ? `ended by ${result.signal}`
      : `exit code ${result.exitCode ?? 'unknown'}`;
  return {
    ok: result.exitCode === 0,
    timedOut: cut.late,
    stdout: result.stdout,
    stderr: result.stderr,
    ending,
  };
}

/** All of the group: what a tool has started would go on, and keep its output open. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
