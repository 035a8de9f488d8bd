// Opening the file: which connection to make, and what must hold before the first query.
import { accessSync, constants, readFileSync, realpathSync, statSync, type BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolder } from '../../system/folder.ts';
import { networkOf } from '../../system/file-system.ts';
import { ELSEWHERE, StoreError, errorCode, type FailureContext } from '../errors.ts';
import { SCHEMA_VERSION, migrate, schemaVersion } from './migrate.ts';

type Connection = Database.Database;

/** Up to this many bytes a copy in memory, about a millisecond for each MB, is better than files left behind. */
const SNAPSHOT_LIMIT = 64n * 1024n * 1024n;

/**
 * Opens, checks and, unless read-only, creates or migrates. Throws `StoreError`, or what the driver throws.
 * @param networkAt the network file system that a path lies on, null where it is none
 * @param copyInto a folder to migrate a copy in where the schema is older and the file itself is not to be changed; without it
 * that copy is in memory, and none is made of what is large
 */
export function connect(
  context: FailureContext,
  networkAt: (path: string) => string | null = networkOf,
  copyInto?: string,
): Connection {
  const file = statOf(context.path);
  if (file !== undefined && !file.isFile()) {
    throw new StoreError('foreign', `${context.path} is not a file: ${ELSEWHERE}`);
  }
  if (!context.readonly) refuseNetwork(context.path, networkAt(context.path));
  const db = context.readonly ? openReadonly(context, file) : openWritable(context, file);
  try {
    const version = schemaVersion(db, context.path);
    if (!context.readonly) prepareForWriting(db, version, context.path);
    else if (version < SCHEMA_VERSION) return migratedCopy(db, version, context, copyInto);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** There, two machines that write at once damage the file, and locks make builds wait for a server, or fail. */
function refuseNetwork(path: string, network: string | null): void {
  if (network === null) return;
  throw new StoreError(
    'network',
    `tuning database ${path} lies on a network disk (${network}), where SQLite's locks do not protect it, so it is only read: ` +
      "set IREE_TUNED_DB to a file on this machine's own disk, and share what is in it by a team's server (IREE_TUNED_TEAM) " +
      'or by iree-tuned export and import',
  );
}

function openWritable({ path, busyTimeoutMs }: FailureContext, file: BigIntStats | undefined): Connection {
  if (file === undefined) makeFolder(dirname(path));
  return new Database(path, { timeout: busyTimeoutMs });
}

function prepareForWriting(db: Connection, version: number, path: string): void {
  if (version < SCHEMA_VERSION) migrate(db, path);
  db.pragma('foreign_keys = ON');
  // Without WAL, which some network file systems lack, the slower default is what keeps the file whole in a power cut.
  // With it, a power cut takes the last records at most, and a killed process none.
  if (useWal(db)) db.pragma('synchronous = NORMAL');
}

/** The file itself stays as it is. */
function migratedCopy(db: Connection, version: number, context: FailureContext, folder?: string): Connection {
  const copy = folder === undefined ? copyInMemory(db, version, context.path) : copyOnDisk(db, folder);
  db.close();
  try {
    migrate(copy, context.path);
    copy.pragma('query_only = ON');
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  }
}

function copyOnDisk(db: Connection, folder: string): Connection {
  const path = join(folder, 'migrated.db');
  db.prepare('VACUUM INTO ?').run(path);
  return new Database(path);
}

function copyInMemory(db: Connection, version: number, path: string): Connection {
  const bytes = db.serialize();
  if (bytes.length > SNAPSHOT_LIMIT)
    throw new StoreError(
      'unavailable',
      `tuning database ${path} has an older schema (${version}, this program needs ${SCHEMA_VERSION}), was opened only to be read, ` +
        `and is too large to be brought up to date for every build: open it once to write (where it lies on a network disk, a copy ` +
        `of it on this machine's own), or ${ELSEWHERE}`,
    );
  return new Database(withoutWal(bytes));
}

function useWal(db: Connection): boolean {
  try {
    return db.pragma('journal_mode = WAL', { simple: true }) === 'wal';
  } catch (error) {
    // The mode is a property of the file: whoever keeps it busy is switching it too, or the next opening does.
    if (errorCode(error).startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}

/**
 * SQLite opens a database in WAL mode only by creating two files beside it, and leaves them there when it may not write:
 * impossible in a read-only folder, and unwanted elsewhere. So a database that nobody is writing is read into memory.
 */
function openReadonly({ path, busyTimeoutMs }: FailureContext, file: BigIntStats | undefined): Connection {
  if (file === undefined || file.size === 0n) {
    const problem = file === undefined ? 'does not exist' : 'is empty';
    throw new StoreError(
      'unavailable',
      `tuning database ${path} ${problem} and was opened only to be read: unset IREE_TUNED_READONLY to create it, or ${ELSEWHERE}`,
    );
  }
  // SQLite keeps its other files beside the real one, whatever links lead there.
  const snapshot = readSnapshot(realpathSync(path), file);
  return snapshot === undefined
    ? new Database(path, { readonly: true, timeout: busyTimeoutMs })
    : new Database(snapshot, { readonly: true });
}

/** The bytes of a database at rest; undefined when it may be in use, or when it is large and SQLite can open it. */
function readSnapshot(path: string, file: BigIntStats): Buffer | undefined {
  if (file.size > SNAPSHOT_LIMIT && isWritable(dirname(path))) return undefined;
  if (hasPendingChanges(path)) return undefined;
  const bytes = readFileSync(path);
  const after = statOf(path);
  const unchanged = after?.mtimeNs === file.mtimeNs && after.size === file.size && after.ino === file.ino;
  if (!unchanged || hasPendingChanges(path)) return undefined;
  return withoutWal(bytes);
}

/** Bytes 18 and 19 say "WAL" when 2; memory has no WAL, and without pending changes the file is whole without it. */
function withoutWal(bytes: Buffer): Buffer {
  for (const at of [18, 19]) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
}

/** Committed or half-written pages that are not, or not rightly, in the main file. */
function hasPendingChanges(path: string): boolean {
  return [`${path}-wal`, `${path}-journal`].some((name) => (statOf(name)?.size ?? 0n) > 0n);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined when there is no such file. A parent that is no folder counts too: creating it gives the clearer error. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}
