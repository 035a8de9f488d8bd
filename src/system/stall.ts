// A child that lives and does nothing: a deadlock looks like this, work never does. And one that works without an end.
import type { Limit } from './child.ts';
import { treeSeconds } from './process-tree.ts';

/** A compile with our injection that has done nothing for so long hangs, and the build goes on without it. */
export const STALL_SECONDS = 30;

/** How often a child is looked at before it counts as hanging. */
const LOOKS = 8;

/** When a child hangs. */
export interface Patience {
  /** So long none of its processes has used any processor time. */
  readonly stallSeconds: number;
  /** So long they have worked: processor time of all of them, but no more of it than time has passed. Without a value for ever. */
  readonly workSeconds?: number;
}

/**
 * Ends a child that hangs. Where the system does not tell what its processes do (anything but Linux), all the time that
 * passes counts as work.
 */
export function whenHung({ stallSeconds, workSeconds = Infinity }: Patience): Limit {
  return (pid, end) => {
    let used = treeSeconds(pid);
    const isKnown = used !== null;
    const interval = Math.min(stallSeconds, workSeconds) / LOOKS;
    // Looks are counted, not time: a job that was stopped for a while did nothing either, and nobody looked.
    let idle = 0;
    let worked = 0;
    const timer = setInterval(() => {
      const now = isKnown ? treeSeconds(pid) : null;
      idle = isKnown && now === used ? idle + interval : 0;
      // Many processors work at once, and a machine with much to do lets a child wait.
      worked += isKnown ? Math.min(interval, Math.max(0, (now ?? 0) - (used ?? 0))) : interval;
      used = now;
      if (idle >= stallSeconds || worked >= workSeconds) end('hung');
    }, interval * 1000);
    return () => {
      clearInterval(timer);
    };
  };
}
