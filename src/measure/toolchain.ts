// What measuring needs of the outside world: the compiler, the runtime's tools, and how to run one of them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { totalmem } from 'node:os';
import { dismissAtExit, watched } from '../compiler/guardian.ts';
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

/** Node's timers hold no more. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

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
  const command = watched('/bin/sh', ['-c', LIMITED, String(MEMORY_KIB), file, ...argv], true);
  const child = spawn(command.file, command.argv, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches us alone, and we decide what it means. Otherwise a compile that it kills would
    // pass for a configuration that does not compile.
    detached: true,
    // The compiler's diagnostics are read by us, not by a person.
    env: childEnvironment({ ...process.env, NO_COLOR: '1', ...env }),
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  // It is waited for below, unless it could not be started at all.
  closed.catch(() => undefined);
  dismissAtExit(child);
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout!.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr!.on('data', (chunk: Buffer) => stderr.push(chunk));
  const cut = { late: false, stopped: false };
  const timer = setTimeout(
    () => {
      cut.late = true;
      killGroup(child.pid);
    },
    Math.min(LONGEST_TIMER_MS, timeoutSeconds * 1000),
  );
  const stop = () => {
    cut.stopped = true;
    killGroup(child.pid);
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const [code, endedBy] = await closed;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  if (cut.stopped) throw new StoppedError('measuring was stopped');
  const ending = cut.late
    ? `took longer than ${timeoutSeconds.toFixed(1)} s`
    : endedBy !== null
      ? `ended by ${endedBy}`
      : `exit code ${code ?? 'unknown'}`;
  return {
    ok: code === 0,
    timedOut: cut.late,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
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
