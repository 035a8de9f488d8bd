// What a child may take before it is ended. Whether it hangs is another question: `stall.ts`.
import type { Limit } from './child.ts';

/** Node's timers hold no more. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ends a child after so much time. */
export const afterSeconds =
  (seconds: number): Limit =>
  (_, end) => {
    const timer = setTimeout(end, Math.min(LONGEST_TIMER_MS, seconds * 1000), 'late');
    return () => {
      clearTimeout(timer);
    };
  };

/** Ends a child when the signal fires, or has fired already. */
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

/** Becomes the program. Where there is no such limit, or a lower one, it is left as it is. */
const LIMITED = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/**
 * Arguments for `/bin/sh` with which it becomes a program that gets no more memory than this, and neither does any process
 * that it starts: what each of them could write to counts, not what it reserves or maps to read.
 */
export const withMemory = (kib: number, executable: string, argv: readonly string[]): string[] => [
  '-c',
  LIMITED,
  String(kib),
  executable,
  ...argv,
];
