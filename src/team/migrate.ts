// Migrates a team's server to this program's schema, and grants the roles their functions.
import { join } from 'node:path';
import { migrationFiles, type Migrations } from '../system/migration-files.ts';
import { packageRoot } from '../system/package-root.ts';
import { UserError } from '../system/user-error.ts';
import type { Connection } from './connection.ts';
import { GRANTS, OWNER_OF } from './roles.ts';
import { PROTOCOL } from './team.ts';

/** Number of the newest file in db/team; kept in `meta.version`. */
export const TEAM_SCHEMA_VERSION = 11;

/** Advisory lock of migrations: "IREt" in ASCII, and a number for the purpose. */
const LOCK = '1230128500, 1';

/** Limit of each statement, which may wait for another migration or for pushes. */
const LIMIT_MS = 60_000;

export interface Migrated {
  /** Schema versions before and after; 0 for no schema. */
  readonly from: number;
  readonly to: number;
}

const OWN: Migrations = { version: TEAM_SCHEMA_VERSION, directory: join(packageRoot, 'db', 'team') };

/**
 * Applies missing migrations in one transaction. A concurrent caller waits, then finds nothing to do. The owner of the tables is the
 * administrators' role, or without it the login.
 * @throws UserError if the server's schema is newer, or the server cannot hold it; and errors of the driver
 */
export async function migrateTeam(connection: Connection, migrations = OWN): Promise<Migrated> {
  const to = migrations.version;
  // Before the lock, so a broken installation blocks nobody.
  const files = migrationFiles(migrations, (message) => new UserError(message));
  const run = (text: string) => connection.query(text, [], LIMIT_MS);
  const value = async (text: string) => {
    const [row] = await run(`SELECT (${text}) AS value`);
    return (row as { value: unknown }).value;
  };
  await run('BEGIN');
  try {
    await run(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const encoding = await value(`current_setting('server_encoding')`);
    if (encoding !== 'UTF8')
      throw new UserError(
        `the database has the encoding ${String(encoding)}: create a database with ENCODING 'UTF8'`,
      );
    if (Number(await value(`current_setting('server_version_num')`)) < 130_000)
      throw new UserError('the server is older than PostgreSQL 13: use a newer one');
    const owner = await value(OWNER_OF('iree_tuned'));
    if ((await value(`to_regnamespace('iree_tuned') IS NULL`)) === true)
      await run(`CREATE SCHEMA iree_tuned AUTHORIZATION ${String(owner)}`);
    await run(`SET LOCAL ROLE ${String(owner)}`);
    const isNew = (await value(`to_regclass('iree_tuned.meta') IS NULL`)) === true;
    const from = isNew ? 0 : Number(await value('SELECT version FROM iree_tuned.meta'));
    if (from > to)
      throw new UserError(
        `the team's server was migrated by a newer iree-compile-tuned (schema ${from}, this one knows ${to}): update iree-compile-tuned`,
      );
    await run('SET LOCAL search_path = iree_tuned, pg_temp');
    for (const sql of files.slice(from)) await run(sql);
    await run(
      from === 0
        ? `INSERT INTO meta (protocol, version) VALUES (${PROTOCOL}, ${to})`
        : `UPDATE meta SET protocol = ${PROTOCOL}, version = ${to} WHERE version < ${to}`,
    );
    // In the same transaction, so no login can call a new function before its rights are set.
    await run(`
      REVOKE ALL ON ALL FUNCTIONS IN SCHEMA iree_tuned FROM PUBLIC;
      REVOKE ALL ON ALL TABLES IN SCHEMA iree_tuned FROM PUBLIC;
      REVOKE ALL ON ALL SEQUENCES IN SCHEMA iree_tuned FROM PUBLIC`);
    await run(GRANTS);
    await run('COMMIT');
    return { from, to };
  } catch (error) {
    await run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
