// Ends children when this process dies, even by SIGKILL: a shell watches each child, and reads a pipe that only this process holds open.
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';

/**
 * Starts the watcher before the program, so no moment is unwatched. The watcher is no child of the program, ends at a line on its pipe,
 * and holds no file of the caller open.
 */
const SCRIPT =
  '( { read -r dismissed || kill -KILL "$0$$"; } <&3 3<&- >/dev/null 2>&1 & ); exec 3<&-; exec "$@"';

/** The command to spawn instead of a program, with a pipe as its fourth file. */
export interface Watched {
  readonly file: string;
  readonly argv: readonly string[];
}

/** @param whole whether to kill the program's process group, or the program alone */
export function watched(file: string, argv: readonly string[], whole: boolean): Watched {
  return { file: '/bin/sh', argv: ['-c', SCRIPT, whole ? '-' : '', file, ...argv] };
}

/** Ends the watcher after the program. `child` closes only then. */
export function dismissAtExit(child: ChildProcess): void {
  const pipe = child.stdio[3] as Duplex;
  // A killed group includes the watcher.
  pipe.on('error', () => undefined);
  pipe.resume();
  child.once('exit', () => pipe.end('\n'));
}
