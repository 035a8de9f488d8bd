// Opening the file: which connection to make, and what must hold before the first query.
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolder } from '../../system/folder.ts';
import { temporaryName } from '../../system/scratch.ts';
import { networkOf } from '../../system/file-system.ts';
import { ELSEWHERE, StoreError, errorCode, type FailureContext } from '../errors.ts';
import { SCHEMA_VERSION, migrate, schemaVersion } from './migrate.ts';

type Connection = Database.Database;

/** Up to this many bytes a copy in memory, about a millisecond for each MB, is better than files left behind. */
const SNAPSHOT_LIMIT = 64n * 1024n * 1024n;

export interface ConnectOptions {
  /** The network file system that a path lies on, null where it is none; what the system says when left out. */
  readonly networkAt?: ((path: string) => string | null) | undefined;
  /**
   * A folder to migrate a copy in where the schema is older and the file itself is not to be changed; without it that copy is in memory,
   * and none is made of what is large.
   */
  readonly copyInto?: string | undefined;
  /** The statements that have to be possible in a newer schema, which is only read; when left out no newer schema is opened. */
  readonly reads?: readonly string[] | undefined;
  /** Is told, in a sentence, that the file was migrated. */
  readonly onMigrated?: ((message: string) => void) | undefined;
}

/** Opens, checks and, unless read-only, creates or migrates. Throws `StoreError`, or what the driver throws. */
export function connect(
  context: FailureContext,
  { networkAt = networkOf, copyInto, reads, onMigrated }: ConnectOptions = {},
): Connection {
  const file = statOf(context.path);
  if (file !== undefined && !file.isFile()) {
    throw new StoreError('foreign', `${context.path} is not a file: ${ELSEWHERE}`);
  }
  if (!context.readonly) refuseNetwork(context.path, networkAt(context.path));
  const db = context.readonly ? openReadonly(context, file) : openWritable(context, file);
  try {
    const known =
      context.readonly && reads !== undefined && isPossible(reads, db) ? Infinity : SCHEMA_VERSION;
    const version = schemaVersion(db, context.path, known);
    if (!context.readonly) prepareForWriting(db, version, context.path, onMigrated);
    else if (version < SCHEMA_VERSION) return migratedCopy(db, version, context, copyInto);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function isPossible(statements: readonly string[], db: Connection): boolean {
  try {
    for (const text of statements) db.prepare(text);
    return true;
  } catch {
    return false;
  }
}

/** There, two machines that write at once damage the file, and locks make builds wait for a server, or fail. */
function refuseNetwork(path: string, network: string | null): void {
  if (network === null) return;
  throw new StoreError(
    'network',
    `tuning database ${path} lies on a network disk (${network}), where SQLite's locks do not protect it: ` +
      "set IREE_TUNED_DB to a file on this machine's own disk, and share what is in it by a team's server (IREE_TUNED_TEAM) " +
      'or by iree-tuned export and import',
  );
}

function openWritable({ path, busyTimeoutMs }: FailureContext, file: BigIntStats | undefined): Connection {
  if (file === undefined) makeFolder(dirname(path));
  // SQLite would open it to be read, and say so with the first record that is written.
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
  // Without WAL, which some network file systems lack, the slower default is what keeps the file whole in a power cut.
  // With it, a power cut takes the last records at most, and a killed process none.
  if (useWal(db)) db.pragma('synchronous = NORMAL');
}

/** A copy of what everybody can read at this moment, on a connection of its own: the caller's is in a transaction. */
function keepCopy(path: string, copy: string): void {
  const next = temporaryName(copy);
  const reader = new Database(path, { readonly: true });
  try {
    reader.prepare('VACUUM INTO ?').run(next);
    renameSync(next, copy);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    reader.close();
  }
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
  const real = realpathSync(path);
  const snapshot = readSnapshot(real, file);
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

/**
 * The bytes of a database whose last writer was killed, as that writer has left it: SQLite would put it at rest, which takes a folder
 * that can be written. A copy has one.
 */
function readRecovered(path: string, file: BigIntStats): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-database-'));
  try {
    const copy = join(folder, 'copy.db');
    for (const more of ['', '-wal', '-journal'])
      if (existsSync(path + more)) copyFileSync(path + more, copy + more);
    chmodSync(copy, 0o600);
    if (!isUnchanged(path, file)) throw new Error('it is being written');
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

/** The bytes of a database at rest; undefined when it may be in use, or when it is large and SQLite can open it. */
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
