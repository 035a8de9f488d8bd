// Temporary files and folders. Their names contain the process that made them, so that others notice its death.
import { chmodSync, readFileSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isOwnDisk } from './file-system.ts';
import { namesIn, removeIfPossible } from './files.ts';
import { shortHash } from './hash.ts';
import { startOf } from './process-tree.ts';
import { resultOr } from './result-or.ts';

/** Pattern of an owner in a name: machine, process id, start time of the process. */
export const OWNER = '([0-9a-f]{8})-(\\d+)-(\\d+)';

/** This process, as names have it. */
export const owner = (): string => `${thisMachine()}-${process.pid}-${startOf(process.pid) ?? 0}`;

/** Name for writing a file, before the rename to `path`. */
export const temporaryName = (path: string): string => `${path}.${owner()}.tmp`;

/** The content of a whole file, or a function that writes it to a path; it may be a database. */
export type NewContent = string | Uint8Array | ((temporary: string) => void);

/** Files of SQLite beside a database, and the database itself. */
const DATABASE_ENDS = ['', '-wal', '-shm', '-journal'];

/**
 * Replaces or creates a whole file: a reader sees the old content or the new one, even if this process is killed. `removeLeftovers` removes
 * a killed writer's file; in the cache folder builds do.
 * @param mode permissions, whatever the umask is; by default those of a new file
 * @throws errors of the content's function and of the file system, and leaves no temporary file
 */
export function replaceFile(path: string, content: NewContent, mode?: number): void {
  const temporary = temporaryName(path);
  try {
    if (typeof content === 'function') content(temporary);
    else writeFileSync(temporary, content);
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (error) {
    for (const end of DATABASE_ENDS) removeIfPossible(temporary + end);
    throw error;
  }
}

const TEMPORARY_END = '\\.tmp(?:|-wal|-shm|-journal)';

/** Removes temporary files of dead processes beside a file that they meant to write. Never throws. */
export function removeLeftovers(path: string): void {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  const isOurs = new RegExp(`^${OWNER}${TEMPORARY_END}$`);
  for (const name of namesIn(folder))
    if (name.startsWith(start) && isOurs.test(name.slice(start.length)))
      removeIfAbandoned(join(folder, name));
}

/** Removes a temporary file or folder if its owner is dead. Never throws. */
export function removeIfAbandoned(path: string): void {
  if (isAbandoned(path)) removeIfPossible(path);
}

/** Age at which leftovers are removed if their owner may run on another machine. */
const FOREIGN_LIFETIME_MS = 24 * 3600 * 1000;

/** A process id proves a death only on a disk that no clone of this machine shares. Elsewhere the age decides. */
function isAbandoned(path: string): boolean {
  const owned = new RegExp(`${OWNER}(?:-\\w+|${TEMPORARY_END})$`);
  const [, machine, pid, started] = owned.exec(path) ?? [];
  if (machine === undefined) return false;
  const isHere = machine === thisMachine();
  if (isHere && isRunning(Number(pid), started!)) return false;
  return (isHere && isOwnDisk(path)) || isOld(path);
}

function isOld(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && status.mtimeMs < Date.now() - FOREIGN_LIFETIME_MS;
}

let machine: string | undefined;

/** Scope of process ids: the boot and the PID namespace. Clones of a virtual machine have the same. */
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
