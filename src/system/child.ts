// Starts other programs and waits for them, with limits. A watcher ends each child when this process dies, even by SIGKILL: a shell reads a
// pipe that only this process holds open.
import type { ChildProcess } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { piecesOf } from './bytes.ts';
import { killTree } from './process-tree.ts';
import { childEnvironment, type Environment } from './recursion.ts';
import { startable } from './undecoded.ts';
import { foundUnkillable } from './unkillable.ts';

export interface ChildOptions {
  /** This process's; the child gets {@link childEnvironment} of it. */
  readonly env: Environment;
  /** Process group. In `ours` the child gets the terminal's Ctrl-C, Ctrl-Z and input. In its `own` it gets none of them. */
  readonly group: 'ours' | 'own';
  /** Bytes to feed; or this process's stdin; or none. */
  readonly stdin: 'inherit' | 'ignore' | Uint8Array;
  /** `pipe` captures stdout and stderr, `inherit` passes them on. */
  readonly output: 'inherit' | 'pipe';
  /** Open file for stdout; by default stdout is treated as stderr. */
  readonly stdoutTo?: number | undefined;
  /** See `limits.ts`. */
  readonly limits?: readonly Limit[];
}

/**
 * Watches a child from its start, and calls `end`, possibly again, to end it.
 * @returns a function that stops watching
 */
export type Limit = (pid: number, end: (why: Cut) => void) => () => void;

/** Why this process ended a child: the time limit, a hang, or an abort. */
export type Cut = 'late' | 'hung' | 'stopped';

export interface ChildEnd {
  /** Exit code; null after a signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** First reason for which this process ended it; null for none. */
  readonly cut: Cut | null;
  /** Empty unless piped. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface Child {
  /** Sends a signal to the program, without its children. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /**
   * Settles soon after the program's end, even if a daemon holds its pipes. Rejects if the program did not start, and with an
   * UnkillableError if it does not end.
   */
  readonly ended: Promise<ChildEnd>;
}

/**
 * Starts the watcher before the program, so no moment is unwatched. The watcher is no child of the program, ends at a line on its pipe, and
 * holds no file of the caller open. `$0` is `-` to kill the program's process group, or empty to kill the program alone.
 */
const WATCHED =
  '( { read -r dismissed || kill -KILL "$0$$"; } <&3 3<&- >/dev/null 2>&1 & ); exec 3<&-; exec "$@"';

/** Seconds from the program's end to the end of the wait for its pipes. The program's own output is in them by then. */
const PIPES_SECONDS = 2;

/** Seconds from SIGKILL to the end of the wait for the program. The system may first free much memory. */
const KILLED_SECONDS = 10;

/**
 * Starts a program. A missing program ends with code 127, as in a shell.
 * @throws if the system cannot start a process
 */
export function startChild(executable: string, argv: readonly string[], options: ChildOptions): Child {
  // Loaded on demand: a hit starts no child.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { group, stdin, output, stdoutTo = output, limits = [] } = options;
  const start = startable(executable, argv, childEnvironment(options.env));
  const command = ['-c', WATCHED, group === 'own' ? '-' : '', start.executable, ...start.argv];
  const child = spawn('/bin/sh', command, {
    stdio: [typeof stdin === 'string' ? stdin : 'pipe', stdoutTo, output, 'pipe'],
    detached: group === 'own',
    env: start.env,
  });
  const closed = Promise.withResolvers<Pick<ChildEnd, 'code' | 'signal'>>();
  child.on('error', closed.reject);
  child.on('close', (code, signal) => {
    closed.resolve({ code, signal });
  });
  // If the code below throws, nobody awaits this promise.
  closed.promise.catch(() => undefined);
  dismissAtExit(child);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  if (typeof stdin !== 'string') feed(child.stdin!, stdin);

  let cut: Cut | null = null;
  const timers: NodeJS.Timeout[] = [];
  /** Waits for a turn of the event loop, too, which reads the pipes and notices the end of the child. */
  const later = (seconds: number, action: () => void) =>
    timers.push(setTimeout(setImmediate, seconds * 1000, action));
  child.once('exit', () =>
    later(PIPES_SECONDS, () => {
      if (group === 'own') killGroup(child.pid!);
      closePipes(child);
    }),
  );
  const giveUp = () => {
    if (!isRunning(child)) return;
    child.unref();
    closePipes(child);
    closed.reject(foundUnkillable(child.pid!));
  };
  const end = (why: Cut) => {
    if (group === 'ours' && !isRunning(child)) return;
    if (cut === null) later(KILLED_SECONDS, giveUp);
    cut ??= why;
    if (group === 'own') killGroup(child.pid!);
    else killTree(child.pid!);
  };
  const { pid } = child;
  const stops = pid === undefined ? [] : limits.map((limit) => limit(pid, end));
  const ended = closed.promise
    .then((how) => ({ ...how, cut, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }))
    .finally(() => {
      for (const stop of stops) stop();
      timers.forEach(clearTimeout);
    });
  return { kill: (signal) => child.kill(signal), ended };
}

/** Ends the watcher after the program. `child` closes only then. */
function dismissAtExit(child: ChildProcess): void {
  const pipe = child.stdio[3] as Duplex;
  // A killed group includes the watcher.
  pipe.on('error', () => undefined);
  pipe.resume();
  child.once('exit', () => pipe.end('\n'));
}

/** Kills a process group, except daemons that left it. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

/** Whether a child has not ended. Later another process may have its id. */
const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

function closePipes({ stdio }: ChildProcess): void {
  for (const pipe of stdio) pipe?.destroy();
}

/** The chunks of a pipe, complete after its end. */
function collect(pipe: Readable | null): readonly Buffer[] {
  const chunks: Buffer[] = [];
  pipe?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

function feed(pipe: Writable, bytes: Uint8Array): void {
  // A program that rejects its arguments does not read its input. Ignore the broken pipe.
  pipe.on('error', () => undefined);
  for (const piece of piecesOf(bytes)) pipe.write(piece);
  pipe.end();
}
