// Ends a child that uses no processor time (a deadlock), or that works without an end.
import type { Limit } from './child.ts';
import { treeSeconds } from './process-tree.ts';

/** A tuned compile without processor time for so long is stopped, and the build falls back. */
export const STALL_SECONDS = 30;

/** Number of samples until a child counts as hanging. */
const LOOKS = 8;

/** Limits of a child. */
export interface Patience {
  /** Seconds in which none of its processes uses processor time. */
  readonly stallSeconds: number;
  /** Seconds of work: processor time of its processes, at most the elapsed time. No limit by default. */
  readonly workSeconds?: number;
}

/** Ends a child that hangs. On systems without `/proc`, elapsed time counts as work. */
export function whenHung({ stallSeconds, workSeconds = Infinity }: Patience): Limit {
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
