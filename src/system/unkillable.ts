// Processes that SIGKILL does not end, because they wait for a device in a reset or for a dead network disk.
import { readFileSync, writeFileSync } from 'node:fs';
import { hasFields, isNumber, isText, orNull } from './data.ts';
import { readJson } from './files.ts';
import { startOf, statFields } from './process-tree.ts';
import { resultOr } from './result-or.ts';
import { UserError } from './user-error.ts';

/** A process. After its end another process may have its id. */
interface Known {
  readonly pid: number;
  /** Start time in ticks. */
  readonly started: string | null;
}

/** A killed process does not end. */
export class UnkillableError extends UserError {
  override readonly name = 'UnkillableError';

  constructor({ pid }: Known) {
    const name = resultOr(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), 'a child');
    super(
      `process ${pid} (${name}) does not end, even by SIGKILL: reset its device or network disk, or restart the machine`,
    );
  }
}

/** Children of this process that did not end. */
const children: Known[] = [];

/** Notes a child that does not end. @returns the error for its caller */
export function foundUnkillable(pid: number): UnkillableError {
  const child = { pid, started: startOf(pid) };
  children.push(child);
  return new UnkillableError(child);
}

/** @throws UnkillableError while such a child of this process is there */
export const refuseBesideUnkillable = (): void => {
  refuse(children);
};

/** Writes a note for other processes while such a child of this process is there. Never throws. */
export const noteUnkillable = (path: string): void =>
  resultOr(() => {
    const left = children.filter(isLeft);
    if (left.length > 0) writeFileSync(path, JSON.stringify(left));
  }, undefined);

const isKnown = hasFields<Known>({ pid: isNumber, started: orNull(isText) });

/** @throws UnkillableError while a process of the note is there */
export function refuseNoted(path: string): void {
  const note = readJson(path);
  if (Array.isArray(note) && note.every(isKnown)) refuse(note);
}

function refuse(processes: readonly Known[]): void {
  const left = processes.find(isLeft);
  if (left !== undefined) throw new UnkillableError(left);
}

/** Whether a process is there, and is no zombie. False on systems without `/proc`. */
function isLeft({ pid, started }: Known): boolean {
  const [state] = statFields(pid) ?? [];
  return started !== null && startOf(pid) === started && state !== 'Z';
}
