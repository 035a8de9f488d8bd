// Migrates a database to this program's schema.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { packageRoot } from '../../system/package-root.ts';
import { ELSEWHERE, StoreError } from '../errors.ts';
import { addMigrationFunctions } from './migration-functions.ts';

/** Number of the newest file in db/migrations; kept in `PRAGMA user_version`. */
export const SCHEMA_VERSION = 10;

/** `PRAGMA application_id` of this program's databases: "IREt" in ASCII. */
export const APPLICATION_ID = 0x49524574;

/** Migrations of a schema. Tests have their own. */
interface Migrations {
  /** Number of the last one. */
  readonly version: number;
  /** Folder with a file `NNNN_name.sql` for each number from 1 to `version`. */
  readonly directory: string;
}

export const OWN: Migrations = { version: SCHEMA_VERSION, directory: join(packageRoot, 'db', 'migrations') };

interface Identity {
  readonly application: number;
  readonly version: number;
  readonly objects: number;
}

/** Schema version of the database; 0 if it is blank. Throws `StoreError` for a foreign file. */
export function schemaVersion(db: Database, path: string): number {
  // One statement, so that a concurrent initialisation is seen completely or not at all.
  const { application, version, objects } = db
    .prepare<[], Identity>(
      `SELECT application_id AS application, user_version AS version,
              (SELECT count(*) FROM sqlite_schema) AS objects
       FROM pragma_application_id, pragma_user_version`,
    )
    .get()!;
  const blank = application === 0 && version === 0 && objects === 0;
  if (application !== APPLICATION_ID && !blank) {
    throw new StoreError('foreign', `${path} is a SQLite database of another program: ${ELSEWHERE}`);
  }
  return version;
}

/** Throws `StoreError` for a schema that is newer than the known one. */
export function refuseLater(version: number, path: string, known = SCHEMA_VERSION): void {
  if (version <= known) return;
  throw new StoreError(
    'future',
    `tuning database ${path} was written by a newer iree-compile-tuned ` +
      `(schema ${version}, this one knows ${known}): update iree-compile-tuned, or ${ELSEWHERE}`,
  );
}

/**
 * Applies missing migrations in one transaction. A concurrent caller waits, then finds nothing to do.
 * @param before called with the old version before the first change, except for a blank database
 */
export function migrate(
  db: Database,
  path: string,
  migrations = OWN,
  before?: (version: number) => void,
): void {
  const { version } = migrations;
  // Before the lock, so a broken installation blocks nobody.
  const files = textsOf(migrations);
  addMigrationFunctions(db);
  db.transaction(() => {
    const from = schemaVersion(db, path);
    refuseLater(from, path, version);
    if (from > 0 && from < version) before?.(from);
    for (const sql of files.slice(from)) db.exec(sql);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${version}`);
  }).immediate();
}

/** SQL of all migrations, in order. */
function textsOf({ version, directory }: Migrations): string[] {
  const names = readdirSync(directory);
  return Array.from({ length: version }, (_, i) => {
    const prefix = `${String(i + 1).padStart(4, '0')}_`;
    const name = names.find((candidate) => candidate.startsWith(prefix) && candidate.endsWith('.sql'));
    if (name === undefined)
      throw new StoreError(
        'unavailable',
        `the installation is incomplete: ${directory} has no ${prefix}*.sql; install iree-compile-tuned again`,
      );
    return readFileSync(join(directory, name), 'utf8');
  });
}
