// The owner of a temporary file or folder: the process that made it. Names contain it, so that others notice its death.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { resultOr } from './result-or.ts';
import { shortHash } from './hash.ts';
import { startOf } from './process-stat.ts';

/** Pattern of an owner in a name: machine, process id, start time of the process. */
export const OWNER = '([0-9a-f]{8})-(\\d+)-(\\d+)';

/** This process, as names have it. */
export const owner = (): string => `${thisMachine()}-${process.pid}-${startOf(process.pid) ?? 0}`;

/** Name for writing a file, before the rename to `path`. */
export const temporaryName = (path: string): string => `${path}.${owner()}.tmp`;

/**
 * Whether an owner is a process of this machine that runs; null for another machine. Clones of a virtual machine take each other for this
 * machine.
 */
export const isAlive = (machine: string, pid: number, started: string): boolean | null =>
  machine === thisMachine() ? isRunning(pid, started) : null;

let machine: string | undefined;

/** Scope of process ids: the boot and the PID namespace. */
const thisMachine = () => (machine ??= shortHash(nameOfMachine()).slice(0, 8));

const nameOfMachine = (): string =>
  resultOr(
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1') + readlinkSync('/proc/self/ns/pid'),
    hostname(),
  );

function isRunning(pid: number, started: string): boolean {
  const start = startOf(pid);
  if (start !== null) return start === started;
  if (process.platform === 'linux') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
