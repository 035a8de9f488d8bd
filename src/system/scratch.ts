// Folders and files that are wanted for a moment only. Their names say whose they are, so that what a killed process
// left behind is known as such and removed by the next one.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from './folder.ts';
import { filesOf, pathIn, PLACES, SCRATCH } from './cache.ts';
import { shortHash } from './hash.ts';
import { statFields } from './process-stat.ts';

/** Names of temporary files and folders hold the machine, and a process by its id and the time of its start. */
const OWNER = '([0-9a-f]{8})-(\\d+)-(\\d+)';
const OWNED = new RegExp(`${OWNER}(?:-\\w+|\\.tmp)$`);

/** A file in each scratch folder, without which a folder is not ours, whatever its name. */
const MARKER = '.iree-tuned-scratch';

/** Leftovers of another machine or container in a shared cache are removed after a day. */
const FOREIGN_LIFETIME_MS = 24 * 3600 * 1000;

const folders = new Set<string>();

/**
 * A new empty folder below the cache directory; `null` when there is no place for it. The caller removes it; an end
 * by a signal that is passed on removes it too, and the next call removes those of processes that were killed.
 */
export function makeScratchFolder(cacheDirectory: string, prefix: string): string | null {
  try {
    const path = pathIn(cacheDirectory, SCRATCH, `${prefix}-${owner()}-`);
    makeFolder(dirname(path), 0o700);
    removeAbandoned(cacheDirectory);
    const folder = mkdtempSync(path);
    writeFileSync(join(folder, MARKER), '');
    folders.add(folder);
    return folder;
  } catch {
    return null;
  }
}

/** The name under which a file is written before it is renamed to `path`. */
export const temporaryName = (path: string): string => `${path}.${owner()}.tmp`;

/** Removes every folder that this process has made, because it is about to end. Never throws. */
export function removeScratchFolders(): void {
  for (const folder of folders) remove(folder);
}

/** Removes scratch folders and temporary files of dead processes, and nothing else of the folder. Never throws. */
export function removeAbandoned(cacheDirectory: string): void {
  const { folder: scratch } = filesOf(cacheDirectory, SCRATCH);
  const folders = entries(scratch)
    .map((name) => join(scratch, name))
    .filter((path) => existsSync(join(path, MARKER)));
  const files = PLACES.flatMap((place) => {
    const { folder, isOurs } = filesOf(cacheDirectory, place, `\\.${OWNER}\\.tmp`);
    return entries(folder)
      .filter((name) => isOurs.test(name))
      .map((name) => join(folder, name));
  });
  for (const path of [...folders, ...files]) {
    const [, machine, pid, started] = OWNED.exec(path) ?? [];
    if (machine === undefined) continue;
    if (machine === thisMachine() ? !isRunning(Number(pid), started!) : isOld(path)) remove(path);
  }
}

const owner = () => `${thisMachine()}-${process.pid}-${startOf(process.pid) ?? 0}`;

let machine: string | undefined;

/** Where process ids mean the same as here: one boot of one machine, and one of its containers. */
const thisMachine = () => (machine ??= shortHash(nameOfMachine()).slice(0, 8));

function nameOfMachine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1');
    return boot + readlinkSync('/proc/self/ns/pid');
  } catch {
    return hostname();
  }
}

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

/** When a process began, in the system's ticks; null when there is none with this id, or the system does not tell. */
const startOf = (pid: number): string | null => statFields(pid)?.[19] ?? null;

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Somebody else's, or in use: it stays.
  }
}
