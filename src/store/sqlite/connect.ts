// Opens the file: chooses a connection, checks the schema, and creates or migrates the database.
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { isServer } from '../../settings/address.ts';
import { resultOr } from '../../system/result-or.ts';
import { makeFolder } from '../../system/folder.ts';
import { removeLeftovers, replaceFile } from '../../system/temporary-files.ts';
import { networkOf } from '../../system/file-system.ts';
import { ELSEWHERE, guardedBy, StoreError, errorCode, type FailureContext } from '../errors.ts';
import { SCHEMA_VERSION, migrate, refuseLater, schemaVersion } from './migrate.ts';
import { refuseForeignSchema } from './schema.ts';
import type { Prepare } from './write.ts';

type Connection = Database.Database;

/** Largest database that is copied to memory, which takes about 1 ms for each MB. */
const SNAPSHOT_LIMIT = 64n * 1024n * 1024n;

export interface OpenOptions {
  /** Change nothing. An idle database is read once, at the opening. */
  readonly readonly?: boolean;
  /** With `readonly`: nobody writes this file, which `compact` has made, so it is read in place. */
  readonly isFixed?: boolean;
  /** Time limit for another process's lock, in milliseconds; 5000 by default. */
  readonly busyTimeoutMs?: number;
  /** Network file system of a path, null for none; asks the system by default. */
  readonly networkAt?: (path: string) => string | null;
  /** Folder for the migrated copy of a read-only database with an older schema. By default the copy is in memory, and a large database fails. */
  readonly copyInto?: string;
  /** Receives a message after a migration. */
  readonly onMigrated?: (message: string) => void;
}

export interface OpenDatabase {
  readonly db: Connection;
  /** Prepares each statement at its first use, because a build needs only two or three. */
  readonly statement: Prepare;
  /** Runs an action, and converts its errors to `StoreError`. */
  readonly guard: <T>(action: () => T) => T;
  /** Runs an action in a transaction that locks at once. A transaction that starts with a read cannot wait for the write lock later. */
  readonly write: <T>(action: () => T) => T;
}

/**
 * Opens the database at `path`. Creates or migrates it unless `readonly`. Throws `StoreError`.
 * @param reads statements that a newer schema must support for reading; by default a newer schema fails
 */
export function openDatabase(
  path: string,
  { readonly = false, busyTimeoutMs = 5000, ...options }: OpenOptions,
  reads?: readonly string[],
): OpenDatabase {
  refuseServer(path);
  const context = { path: resolve(path), readonly, busyTimeoutMs };
  const guard = guardedBy(context);
  const db = guard(() => connect(context, options, reads));
  const write = <T>(action: () => T) => guard(() => db.transaction(action).immediate());
  return { db, statement: preparedOnce(db), guard, write };
}

/** The message lacks the URL, which may contain a password. */
function refuseServer(location: string): void {
  if (!isServer(location)) return;
  throw new StoreError(
    'unavailable',
    'the database cannot be a PostgreSQL server: set IREE_TUNED_DB to a SQLite file, or give the path of one',
  );
}

/** Prepares each statement once. */
export function preparedOnce(db: Connection): Prepare {
  const statements = new Map<string, Database.Statement>();
  return (text) => {
    const known = statements.get(text) ?? db.prepare(text);
    statements.set(text, known);
    return known;
  };
}

/** Opens and checks the database. Throws `StoreError` and errors of the driver. */
function connect(
  context: FailureContext,
  { isFixed = false, networkAt = networkOf, copyInto, onMigrated }: OpenOptions,
  reads: readonly string[] | undefined,
): Connection {
  const file = statOf(context.path);
  if (file !== undefined && !file.isFile()) {
    throw new StoreError('foreign', `${context.path} is not a file: ${ELSEWHERE}`);
  }
  if (!context.readonly) refuseNetwork(context.path, networkAt(context.path));
  const db = context.readonly ? openReadonly(context, file, isFixed) : openWritable(context, file);
  try {
    // In one transaction, because another process may create or migrate the database now.
    const version = db.transaction(() => checkedVersion(db, context.path))();
    const isReadable = context.readonly && reads !== undefined;
    if (version > SCHEMA_VERSION && !(isReadable && isPossible(reads, db)))
      refuseLater(version, context.path);
    db.pragma('trusted_schema = OFF');
    if (!context.readonly) prepareForWriting(db, version, context.path, onMigrated);
    else if (version < SCHEMA_VERSION) return migratedCopy(db, version, context, copyInto);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function checkedVersion(db: Connection, path: string): number {
  const version = schemaVersion(db, path);
  refuseForeignSchema(db, path, version);
  return version;
}

const isPossible = (statements: readonly string[], db: Connection): boolean =>
  statements.every((text) => resultOr(() => db.prepare(text), null) !== null);

/** On a network disk concurrent writers could damage the file, and locks could fail or block builds. */
function refuseNetwork(path: string, network: string | null): void {
  if (network === null) return;
  throw new StoreError(
    'network',
    `tuning database ${path} is on a network disk (${network}), where SQLite's locks do not work: ` +
      "set IREE_TUNED_DB to a file on this machine's own disk, and share records through a team's base (IREE_TUNED_TEAM) " +
      'or with iree-tuned db export and import',
  );
}

function openWritable({ path, busyTimeoutMs }: FailureContext, file: BigIntStats | undefined): Connection {
  if (file === undefined) makeFolder(dirname(path));
  // SQLite itself would open it read-only, and fail at the first write.
  else accessSync(path, constants.W_OK);
  return new Database(path, { timeout: busyTimeoutMs });
}

function prepareForWriting(
  db: Connection,
  version: number,
  path: string,
  onMigrated?: (message: string) => void,
): void {
  if (version < SCHEMA_VERSION) {
    let message: string | undefined;
    migrate(db, path, undefined, (from) => {
      const copy = `${path}.schema-${from}`;
      keepCopy(path, copy);
      message =
        `tuning database ${path} has schema ${SCHEMA_VERSION} now, before ${from}: earlier versions of iree-compile-tuned ` +
        `no longer write it; ${copy} is a copy from before`;
    });
    if (message !== undefined) onMigrated?.(message);
  }
  db.pragma('foreign_keys = ON');
  // With WAL a power cut loses the last records at most, and a killed process loses none. Without WAL only the slower default is safe.
  if (useWal(db)) db.pragma('synchronous = NORMAL');
}

/** Copies the committed state through another connection, because the caller's is in a transaction. */
function keepCopy(path: string, copy: string): void {
  const reader = new Database(path, { readonly: true });
  try {
    removeLeftovers(copy);
    replaceFile(copy, (temporary) => reader.prepare('VACUUM INTO ?').run(temporary));
  } finally {
    reader.close();
  }
}

/** Migrates a copy, and leaves the file unchanged. */
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
      `tuning database ${path} has an older schema (${version}, this program needs ${SCHEMA_VERSION}), is open for reading only, ` +
        `and is too large to migrate a copy for every build: open it once for writing (on a network disk, open a copy ` +
        `on this machine's own disk), or ${ELSEWHERE}`,
    );
  return new Database(withoutWal(bytes));
}

function useWal(db: Connection): boolean {
  try {
    return db.pragma('journal_mode = WAL', { simple: true }) === 'wal';
  } catch (error) {
    // The mode is stored in the file. Another process switches it now, or the next one will.
    if (errorCode(error).startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}

/**
 * Opens a database for reading. In WAL mode SQLite creates two files beside it, and leaves them without write permission. So an idle
 * database is read into memory instead.
 */
function openReadonly(
  { path, busyTimeoutMs }: FailureContext,
  file: BigIntStats | undefined,
  isFixed: boolean,
): Connection {
  if (file === undefined || file.size === 0n) {
    const problem = file === undefined ? 'does not exist' : 'is empty';
    throw new StoreError(
      'unavailable',
      `tuning database ${path} ${problem} and is open for reading only: unset IREE_TUNED_READONLY to create it, or ${ELSEWHERE}`,
    );
  }
  // SQLite's other files lie beside the real file.
  const real = realpathSync(path);
  const snapshot = isFixed ? undefined : readSnapshot(real, file);
  if (snapshot !== undefined) return new Database(snapshot, { readonly: true });
  const db = new Database(path, { readonly: true, timeout: busyTimeoutMs });
  try {
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    return db;
  } catch (error) {
    db.close();
    if (file.size > SNAPSHOT_LIMIT || isWritable(dirname(real))) throw error;
    return new Database(readRecovered(real, file), { readonly: true });
  }
}

/** The bytes of a database after a killed writer. SQLite's recovery needs a writable folder, so it recovers a copy. */
function readRecovered(path: string, file: BigIntStats): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-database-'));
  try {
    const copy = join(folder, 'copy.db');
    for (const more of ['', '-wal', '-journal'])
      if (existsSync(path + more)) copyFileSync(path + more, copy + more);
    chmodSync(copy, 0o600);
    if (!isUnchanged(path, file)) throw new Error('another process writes to it');
    const db = new Database(copy);
    try {
      db.pragma('wal_checkpoint(TRUNCATE)');
      return withoutWal(db.serialize());
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bytes of an idle database; undefined if it may be in use, or if it is large and SQLite can open it. */
function readSnapshot(path: string, file: BigIntStats): Buffer | undefined {
  if (file.size > SNAPSHOT_LIMIT && isWritable(dirname(path))) return undefined;
  if (hasPendingChanges(path)) return undefined;
  const bytes = readFileSync(path);
  if (!isUnchanged(path, file) || hasPendingChanges(path)) return undefined;
  return withoutWal(bytes);
}

function isUnchanged(path: string, before: BigIntStats): boolean {
  const after = statOf(path);
  return after?.mtimeNs === before.mtimeNs && after.size === before.size && after.ino === before.ino;
}

/** Clears WAL mode (bytes 18 and 19 are 2), which a database in memory cannot have. */
function withoutWal(bytes: Buffer): Buffer {
  for (const at of [18, 19]) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
}

/** Whether there are pages outside the main file. */
function hasPendingChanges(path: string): boolean {
  return [`${path}-wal`, `${path}-journal`].some((name) => (statOf(name)?.size ?? 0n) > 0n);
}

const isWritable = (folder: string): boolean =>
  resultOr(() => {
    accessSync(folder, constants.W_OK);
    return true;
  }, false);

/** Undefined for a missing file, or a parent that is no folder. A later creation gives the clearer error. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}
