// Nothing that we start outlives us. SIGKILL leaves a process no time to end its children, so each of them is watched by
// a shell that reads from a pipe which only we hold: the end of that pipe is our end.
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';

/**
 * The watcher is there before the program is, so there is no moment at which the program could be left behind. It is
 * no child of the program's, ends with a line that it reads, and keeps no file of the caller's open.
 */
const SCRIPT =
  '( { read -r dismissed || kill -KILL "$0$$"; } <&3 3<&- >/dev/null 2>&1 & ); exec 3<&-; exec "$@"';

/** What to spawn instead of a program so that it is watched, with a pipe as its fourth file. */
export interface Watched {
  readonly file: string;
  readonly argv: readonly string[];
}

/** @param whole kills the group that the program leads, instead of the program alone */
export function watched(file: string, argv: readonly string[], whole: boolean): Watched {
  return { file: '/bin/sh', argv: ['-c', SCRIPT, whole ? '-' : '', file, ...argv] };
}

/** Lets the watcher go when the program has ended by itself; only then `child` closes. */
export function dismissAtExit(child: ChildProcess): void {
  const pipe = child.stdio[3] as Duplex;
  // It is gone already when the whole group was killed.
  pipe.on('error', () => undefined);
  pipe.resume();
  child.once('exit', () => pipe.end('\n'));
}
