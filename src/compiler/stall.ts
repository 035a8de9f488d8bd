// A child that lives and does nothing: a deadlock looks like this, work never does.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A compile with our injection that has done nothing for so long hangs, and the build goes on without it. */
export const STALL_SECONDS = 30;

/** How often a child is looked at before it counts as stalled. */
const LOOKS = 8;

/**
 * Kills a child that has used no processor time for `seconds`. Where the system does not tell (anything but Linux),
 * nothing is watched.
 * @param onStall called just before
 * @returns stops watching
 */
export function killWhenStalled(child: ChildProcess, seconds: number, onStall: () => void): () => void {
  let used = processorTicks(child.pid);
  if (used === null) return () => undefined;
  // Looks are counted, not time: a job that was stopped for a while did nothing either, and nobody looked.
  let idleLooks = 0;
  const timer = setInterval(
    () => {
      const now = processorTicks(child.pid);
      idleLooks = now === used ? idleLooks + 1 : 0;
      used = now;
      if (idleLooks < LOOKS) return;
      onStall();
      child.kill('SIGKILL');
    },
    (seconds * 1000) / LOOKS,
  );
  return () => {
    clearInterval(timer);
  };
}

/** Processor time of all threads so far, in clock ticks; null when it cannot be known. */
function processorTicks(pid: number | undefined): number | null {
  try {
    // The name of the program may hold anything; the fields are counted from behind it.
    const fields = readFileSync(`/proc/${pid!}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return null;
  }
}
