// The state of a process, and the processor time and end of its tree. A compiler may be a script that runs the real compiler, which starts
// a linker. A process group of its own would be simpler, but would cut the compiler off from the terminal's Ctrl-C, Ctrl-Z and input.
import { readdirSync, readFileSync } from 'node:fs';
import { resultOr } from './result-or.ts';
import { namesIn } from './files.ts';

/** The fields of `/proc/PID/stat` from the state on (field 3 in proc(5)); null without such a process or file. */
export const statFields = (pid: number): string[] | null =>
  resultOr(
    // Field 2, the program's name, may contain any character.
    () => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' '),
    null,
  );

/** Start time of a process in ticks; null if unknown. */
export const startOf = (pid: number): string | null => statFields(pid)?.[19] ?? null;

/** Unit of times in `/proc` on all supported processors. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time of a process, its descendants, and the children that they waited for, in seconds; null if unknown. It can fall when a
 * process ends without its parent waiting.
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

/** Kills a process and its descendants, except daemons that left the tree. */
export function killTree(pid: number): void {
  // Bottom-up, because the death of a parent may wake a stopped child.
  for (const member of stopTree(pid).reverse()) send(member, 'SIGKILL');
}

/** Stops a tree top-down, so that no process starts another. Returns all process ids. */
function stopTree(pid: number): number[] {
  send(pid, 'SIGSTOP');
  return [pid, ...childrenOf(pid).flatMap(stopTree)];
}

function send(pid: number, signal: NodeJS.Signals): void {
  // The process may have ended, or belong to another user.
  resultOr(() => process.kill(pid, signal), false);
}

/** Ids of a process's children. */
export function childrenOf(pid: number): number[] {
  try {
    const threads = `/proc/${pid}/task`;
    return readdirSync(threads).flatMap((thread) =>
      (readFileSync(`${threads}/${thread}/children`, 'latin1').match(/\d+/g) ?? []).map(Number),
    );
  } catch {
    // The kernel lacks these files, or a thread ended during the read.
    return scanForChildren(pid);
  }
}

/** The same from the list of all processes, which is slower. */
export function scanForChildren(pid: number): number[] {
  const all = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((other) => statOf(other)?.parent === pid);
}

/** Parent, and ticks of the process and of children that it waited for; null without such a process. */
function statOf(pid: number): { readonly parent: number; readonly ticks: number } | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}
