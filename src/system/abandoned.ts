// Leftovers of killed processes: temporary files and folders whose owner is dead.
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnDisk } from './file-system.ts';
import { namesIn, removeIfPossible } from './files.ts';
import { isAlive, OWNER } from './owner.ts';

/** Ends of SQLite's files beside a database. */
const BESIDE_DATABASES = '(?:-wal|-shm|-journal)?';

const OWNED = new RegExp(`${OWNER}(?:-\\w+|\\.tmp${BESIDE_DATABASES})$`);

/** Age at which leftovers are removed if their owner may run on another machine. */
const FOREIGN_LIFETIME_MS = 24 * 3600 * 1000;

/** Removes a temporary file or folder if its owner is dead. Never throws. */
export function removeIfAbandoned(path: string): void {
  if (isAbandoned(path)) removeIfPossible(path);
}

/** Removes temporary files of dead processes beside a file that they meant to write. Never throws. */
export function removeLeftovers(path: string): void {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  const isOurs = new RegExp(`^${OWNER}\\.tmp${BESIDE_DATABASES}$`);
  for (const name of namesIn(folder))
    if (name.startsWith(start) && isOurs.test(name.slice(start.length)))
      removeIfAbandoned(join(folder, name));
}

/** A process id proves a death only on a disk that no clone of this machine shares. Elsewhere the age decides. */
function isAbandoned(path: string): boolean {
  const [, machine, pid, started] = OWNED.exec(path) ?? [];
  if (machine === undefined) return false;
  const alive = isAlive(machine, Number(pid), started!);
  return alive === false && isOwnDisk(path) ? true : alive !== true && isOld(path);
}

function isOld(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && status.mtimeMs < Date.now() - FOREIGN_LIFETIME_MS;
}
