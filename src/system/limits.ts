// Limits of a child's time, work and memory.
import type { Limit } from './child.ts';
import { treeSeconds } from './process-tree.ts';

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

/** A tuned compile without processor time for so long is stopped, and the build falls back. */
export const STALL_SECONDS = 30;

/** Number of samples until a child counts as hanging. */
const LOOKS = 8;

export interface HangLimits {
  /** Seconds in which none of its processes uses processor time. */
  readonly stallSeconds: number;
  /** Seconds of work: processor time of its processes, at most the elapsed time. No limit by default. */
  readonly workSeconds?: number;
}

/** Ends a child that hangs. On systems without `/proc`, elapsed time counts as work. */
export function whenHung({ stallSeconds, workSeconds = Infinity }: HangLimits): Limit {
  return (pid, end) => {
    let used = treeSeconds(pid);
    const isKnown = used !== null;
    const interval = Math.min(stallSeconds, workSeconds) / LOOKS;
    // Counts samples instead of time: while a job is suspended, no sample is taken.
    let idle = 0;
    let worked = 0;
    const timer = setInterval(() => {
      const now = isKnown ? treeSeconds(pid) : null;
      idle = isKnown && now === used ? idle + interval : 0;
      // At most the interval, because several processors may work at once.
      worked += isKnown ? Math.min(interval, Math.max(0, (now ?? 0) - (used ?? 0))) : interval;
      used = now;
      if (idle >= stallSeconds || worked >= workSeconds) end('hung');
    }, interval * 1000);
    return () => {
      clearInterval(timer);
    };
  };
}

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
