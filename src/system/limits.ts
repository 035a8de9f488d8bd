// Limits of a child's time and memory. `stall.ts` detects a hanging child.
import type { Limit } from './child.ts';

/** Longest delay of Node's timers. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const afterSeconds =
  (seconds: number): Limit =>
  (_, end) => {
    const timer = setTimeout(end, Math.min(LONGEST_TIMER_MS, seconds * 1000), 'late');
    return () => {
      clearTimeout(timer);
    };
  };

/** Ends a child when the signal aborts, or at once if it is aborted. */
export const onAbort =
  (signal: AbortSignal): Limit =>
  (_, end) => {
    const stop = () => {
      end('stopped');
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    return () => {
      signal.removeEventListener('abort', stop);
    };
  };

/** A shell's script that becomes the program. It keeps a lower limit, and ignores systems without the limit. */
const LIMITED = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/**
 * Arguments for `/bin/sh` that run a program with a memory limit for each of its processes: private writable memory counts, reserved and
 * mapped memory does not.
 */
export const withMemory = (kib: number, executable: string, argv: readonly string[]): string[] => [
  '-c',
  LIMITED,
  String(kib),
  executable,
  ...argv,
];
