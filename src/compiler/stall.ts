// A child that lives and does nothing: a deadlock looks like this, work never does.
import type { ChildProcess } from 'node:child_process';
import { killTree, treeTicks } from './process-tree.ts';

/** A compile with our injection that has done nothing for so long hangs, and the build goes on without it. */
export const STALL_SECONDS = 30;

/** How often a child is looked at before it counts as stalled. */
const LOOKS = 8;

/**
 * Kills a child with all that it has started when none of them has used processor time for `seconds`. Where the system
 * does not tell (anything but Linux), nothing is watched.
 * @param onStall called just before
 * @returns stops watching
 */
export function killWhenStalled(child: ChildProcess, seconds: number, onStall: () => void): () => void {
  const { pid } = child;
  let used = pid === undefined ? null : treeTicks(pid);
  if (pid === undefined || used === null) return () => undefined;
  // Looks are counted, not time: a job that was stopped for a while did nothing either, and nobody looked.
  let idleLooks = 0;
  const timer = setInterval(
    () => {
      const now = treeTicks(pid);
      idleLooks = now === used ? idleLooks + 1 : 0;
      used = now;
      if (idleLooks < LOOKS) return;
      // Once it has ended, its number may be another's.
      if (child.exitCode === null && child.signalCode === null) {
        onStall();
        killTree(pid);
      }
      // A daemon that it has left behind may hold them open, and everybody would wait for that.
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    (seconds * 1000) / LOOKS,
  );
  return () => {
    clearInterval(timer);
  };
}
