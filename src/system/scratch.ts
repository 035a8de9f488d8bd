// Temporary folders and files. Their names contain their owner, so the next process removes leftovers of a killed one.
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { resultOr } from './result-or.ts';
import { makeFolder } from './folder.ts';
import { filesAt, pathIn, PLACES, SCRATCH } from './cache.ts';
import { namesIn } from './files.ts';
import { shortHash } from './hash.ts';
import { statFields } from './process-stat.ts';
import { UserError } from './user-error.ts';

/** Owner in a name: machine, process id, start time of the process. */
const OWNER = '([0-9a-f]{8})-(\\d+)-(\\d+)';
const OWNED = new RegExp(`${OWNER}(?:-\\w+|\\.tmp)$`);

/** A file that marks a scratch folder of this program. */
const MARKER = '.iree-tuned-scratch';

/** Age at which leftovers of other machines and containers in a shared cache are removed. */
const FOREIGN_LIFETIME_MS = 24 * 3600 * 1000;

const folders = new Set<string>();

/**
 * Creates an empty folder in the cache; null if that fails. The caller removes it. `exitLike` removes it too, and the next call removes
 * folders of killed processes.
 */
export function makeScratchFolder(cacheDirectory: string, prefix: string): string | null {
  try {
    const path = pathIn(cacheDirectory, SCRATCH, `${prefix}-${owner()}-`);
    makeFolder(dirname(path), 0o700);
    removeAbandoned(cacheDirectory);
    const folder = mkdtempSync(path);
    // An empty file fits on a full disk.
    writeFileSync(join(folder, MARKER), 'scratch\n');
    folders.add(folder);
    return folder;
  } catch {
    return null;
  }
}

/**
 * Runs an action with a scratch folder, and removes the folder.
 * @throws UserError for a cache folder that cannot be written
 */
export async function withScratchFolder<T>(
  cacheDirectory: string,
  prefix: string,
  action: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = makeScratchFolder(cacheDirectory, prefix);
  if (folder === null) throw new UserError(`the cache folder ${cacheDirectory} cannot be written`);
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Name for writing a file, before the rename to `path`. */
export const temporaryName = (path: string): string => `${path}.${owner()}.tmp`;

/** Removes all scratch folders of this process. Never throws. */
export function removeScratchFolders(): void {
  for (const folder of folders) remove(folder);
}

/** Removes scratch folders and temporary files of dead processes. Never throws. */
export function removeAbandoned(cacheDirectory: string): void {
  const scratch = pathIn(cacheDirectory, SCRATCH);
  const folders = namesIn(scratch)
    .map((name) => join(scratch, name))
    .filter((path) => existsSync(join(path, MARKER)));
  const files = PLACES.flatMap((place) => filesAt(cacheDirectory, place, `\\.${OWNER}\\.tmp`));
  for (const path of [...folders, ...files]) {
    const [, machine, pid, started] = OWNED.exec(path) ?? [];
    if (machine === undefined) continue;
    if (machine === thisMachine() ? !isRunning(Number(pid), started!) : isOld(path)) remove(path);
  }
}

const owner = () => `${thisMachine()}-${process.pid}-${startOf(process.pid) ?? 0}`;

let machine: string | undefined;

/** Scope of process ids: the boot and the PID namespace. */
const thisMachine = () => (machine ??= shortHash(nameOfMachine()).slice(0, 8));

const nameOfMachine = (): string =>
  resultOr(
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1') + readlinkSync('/proc/self/ns/pid'),
    hostname(),
  );

function isOld(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && status.mtimeMs < Date.now() - FOREIGN_LIFETIME_MS;
}

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

/** Start time of a process in ticks; null if unknown. */
const startOf = (pid: number): string | null => statFields(pid)?.[19] ?? null;

/** Ignores a file that belongs to another user, or is in use. */
const remove = (path: string): void =>
  resultOr(() => {
    rmSync(path, { recursive: true, force: true });
  }, undefined);
