// The one way in which a program of somebody else's is started and waited for: watched, so that it never outlives us,
// within limits, and ended with all that it has started.
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { piecesOf } from './bytes.ts';
import { dismissAtExit, watched } from './guardian.ts';
import { killTree } from './process-tree.ts';
import { childEnvironment } from './recursion.ts';
import { startable } from './undecoded.ts';

export interface ChildOptions {
  /** Ours; the child gets what {@link childEnvironment} makes of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * `ours` is the terminal's, where the child gets the user's Ctrl-C and Ctrl-Z and may read. In one of its `own` it gets
   * none of that, and we decide what a Ctrl-C means.
   */
  readonly group: 'ours' | 'own';
  /** Bytes to feed it; `inherit` gives it ours, `ignore` nothing. */
  readonly stdin: 'inherit' | 'ignore' | Uint8Array;
  /** `pipe` keeps stdout and stderr, `inherit` passes them on. */
  readonly output: 'inherit' | 'pipe';
  /** See `limits.ts` and `stall.ts`. */
  readonly limits?: readonly Limit[];
}

/**
 * Looks at a child from its start on, and calls `end` for as long as there is a reason to end it.
 * @returns stops looking
 */
export type Limit = (pid: number, end: (why: Cut) => void) => () => void;

/** Why we end a child: its time is over, it hangs, or nobody wants it any more. */
export type Cut = 'late' | 'hung' | 'stopped';

export interface ChildEnd {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The first reason for which we have ended it. */
  readonly cut: Cut | null;
  /** Empty unless piped. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface Child {
  /** Sends a signal to the program itself. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Rejects when it could not be started. */
  readonly ended: Promise<ChildEnd>;
}

/**
 * Starts a program. One that is not there ends with code 127, as in a shell.
 * @throws where the system starts nothing
 */
export function startChild(executable: string, argv: readonly string[], options: ChildOptions): Child {
  // Taken on demand: the usual way never starts a process.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { group, stdin, output, limits = [] } = options;
  const start = startable(executable, argv, childEnvironment(options.env));
  const command = watched(start.executable, start.argv, group === 'own');
  const child = spawn(command.file, command.argv, {
    stdio: [typeof stdin === 'string' ? stdin : 'pipe', output, output, 'pipe'],
    detached: group === 'own',
    env: start.env,
  });
  const closed = new Promise<Pick<ChildEnd, 'code' | 'signal'>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal });
    });
  });
  // Whoever gets an exception from here does not wait for it.
  closed.catch(() => undefined);
  dismissAtExit(child);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  if (typeof stdin !== 'string') feed(child.stdin!, stdin);

  let cut: Cut | null = null;
  const end = (why: Cut) => {
    if (group === 'own') killGroup(child.pid!);
    else if (!killIfRunning(child)) return;
    cut ??= why;
  };
  const { pid } = child;
  const stops = pid === undefined ? [] : limits.map((limit) => limit(pid, end));
  const ended = closed
    .then((how) => ({ ...how, cut, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }))
    .finally(() => {
      for (const stop of stops) stop();
    });
  return { kill: (signal) => child.kill(signal), ended };
}

/** What has let go of the group, as daemons do, is not among them. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

/** Kills a child with all that it has started; false when it has ended by itself, and its number may be another's. */
function killIfRunning(child: ChildProcess): boolean {
  const isRunning = child.exitCode === null && child.signalCode === null;
  if (isRunning) killTree(child.pid!);
  // A daemon that it has left behind may hold them open, and everybody would wait for that.
  child.stdout?.destroy();
  child.stderr?.destroy();
  return isRunning;
}

/** What comes out of a pipe, all of it once the pipe is closed. */
function collect(pipe: Readable | null): readonly Buffer[] {
  const chunks: Buffer[] = [];
  pipe?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

function feed(pipe: Writable, bytes: Uint8Array): void {
  // A program that rejects its arguments never reads its input: the broken pipe is not the news.
  pipe.on('error', () => undefined);
  for (const piece of piecesOf(bytes)) pipe.write(piece);
  pipe.end();
}
