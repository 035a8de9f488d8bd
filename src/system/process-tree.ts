// A process and all that it has started. A compiler may be a script that runs the real one, and the real one starts a
// linker: what counts, and what has to end, is all of them. A process group would be simpler to ask and to kill, but the
// terminal's group is where the compiler has to stay: there it gets the user's Ctrl-C and Ctrl-Z, and may read.
import { readdirSync, readFileSync } from 'node:fs';
import { statFields } from './process-stat.ts';

/** Of all times in `/proc`, on every processor that we run on. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time so far of a process, of those that descend from it, and of those that any of them has waited for, in
 * seconds; null when it cannot be known. It falls when one ends whose parent does not wait for it.
 */
export function treeSeconds(pid: number): number | null {
  const ticks = treeTicks(pid);
  return ticks === null ? null : ticks / TICKS_PER_SECOND;
}

function treeTicks(pid: number): number | null {
  const used = statOf(pid)?.ticks;
  return used === undefined
    ? null
    : childrenOf(pid).reduce((sum, child) => sum + (treeTicks(child) ?? 0), used);
}

/** Kills a process and those that descend from it. What it has let go of, as daemons are, is not among them. */
export function killTree(pid: number): void {
  // From below: who loses a parent is not woken up by that.
  for (const member of stopTree(pid).reverse()) send(member, 'SIGKILL');
}

/** Stops a tree from the top down: who is stopped starts no other, so the answer is all of it. */
function stopTree(pid: number): number[] {
  send(pid, 'SIGSTOP');
  return [pid, ...childrenOf(pid).flatMap(stopTree)];
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to somebody else.
  }
}

/** The children of all its threads. */
export function childrenOf(pid: number): number[] {
  try {
    const threads = `/proc/${pid}/task`;
    return readdirSync(threads).flatMap((thread) =>
      (readFileSync(`${threads}/${thread}/children`, 'latin1').match(/\d+/g) ?? []).map(Number),
    );
  } catch {
    // Not every kernel tells, and a thread may have ended meanwhile.
    return scanForChildren(pid);
  }
}

/** The same from the list of all processes, which takes longer. */
export function scanForChildren(pid: number): number[] {
  try {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return all.map(Number).filter((other) => statOf(other)?.parent === pid);
  } catch {
    return [];
  }
}

/** Its ticks are its own and those of the children that it has waited for; null when there is none. */
function statOf(pid: number): { readonly parent: number; readonly ticks: number } | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}
