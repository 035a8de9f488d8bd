// @module-tag slow
// Migrations of the schema, and the roles.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAddress } from '../../src/team/address.ts';
import { openConnection, type Connection } from '../../src/team/connection.ts';
import { migrateTeam, TEAM_SCHEMA_VERSION } from '../../src/team/migrate.ts';
import { ROLES_SQL } from '../../src/team/roles.ts';
import { PROTOCOL } from '../../src/team/team.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { testDatabase, testServer, whyNoPostgres, type TestDatabase } from '../support/postgres.ts';
import { claimOf, clientAs, given, LONG, partsOf, teamDatabase } from './support.ts';

function connectionTo(url: string): Connection {
  const address = readAddress(url);
  const connection = openConnection(address, address.password ?? '');
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

/** Version of the schema, and the owners of its objects. */
const stateOf = async (database: TestDatabase) => {
  const [meta] = await database.query('SELECT version, protocol FROM iree_tuned.meta');
  const owners = await database.query(
    `SELECT DISTINCT owner::regrole::text AS owner FROM (
       SELECT relowner FROM pg_class WHERE relnamespace = 'iree_tuned'::regnamespace
       UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'iree_tuned'::regnamespace
       UNION ALL SELECT nspowner FROM pg_namespace WHERE nspname = 'iree_tuned') AS all_owners (owner)`,
  );
  return { ...meta, owners: owners.map(({ owner }) => owner) };
};

/** A folder with one additional migration. */
function withAnother(sql: string): string {
  const folder = temporaryDirectory();
  cpSync(join(root, 'db', 'team'), folder, { recursive: true });
  writeFileSync(join(folder, `${String(TEAM_SCHEMA_VERSION + 1).padStart(4, '0')}_another.sql`), sql);
  return folder;
}

describe.skipIf(isWithout(whyNoPostgres))('migrating', () => {
  test('creates the schema once, and then changes nothing', async () => {
    const database = await testDatabase();
    const connection = connectionTo(database.url);
    expect(await migrateTeam(connection)).toEqual({ from: 0, to: TEAM_SCHEMA_VERSION });
    expect(await migrateTeam(connection)).toEqual({ from: TEAM_SCHEMA_VERSION, to: TEAM_SCHEMA_VERSION });
    expect(await stateOf(database)).toEqual({
      version: TEAM_SCHEMA_VERSION,
      protocol: PROTOCOL,
      // Roles belong to the server, which has them from other tests.
      owners: ['iree_tuned_administrator'],
    });
  });

  test.each([['before'], ['after']])(
    'works with roles created %s it, also by an administrator',
    async (when) => {
      const database = await testDatabase();
      const superuser = connectionTo(database.url);
      if (when === 'after') {
        // The server has the roles, so a login without any role stands in for a server without roles.
        const login = await database.login('owner');
        const { username } = new URL(login);
        await database.query(`ALTER DATABASE ${database.name} OWNER TO ${username}`);
        await migrateTeam(connectionTo(login));
        expect(await stateOf(database)).toMatchObject({ owners: [username] });
      }
      await superuser.query(ROLES_SQL, [], LONG);
      await superuser.query(ROLES_SQL, [], LONG);
      const administrator = connectionTo(await database.login('admin', { in: 'iree_tuned_administrator' }));
      if (when === 'before') await migrateTeam(administrator);
      await migrateTeam(administrator, {
        version: TEAM_SCHEMA_VERSION + 1,
        directory: withAnother('CREATE TABLE another ()'),
      });
      expect(await stateOf(database)).toEqual({
        version: TEAM_SCHEMA_VERSION + 1,
        protocol: PROTOCOL,
        owners: ['iree_tuned_administrator'],
      });
      const writer = await clientAs(database, 'writer');
      expect((await given(writer.push([...partsOf(), claimOf()], LONG))).changed.claims).toBe(1);
      const [row] = await database.query(
        `SELECT has_table_privilege('public', 'iree_tuned.another', 'SELECT') AS may`,
      );
      expect(row).toEqual({ may: false });
    },
  );

  test('refuses a newer schema with the way out', async () => {
    const database = await teamDatabase();
    await database.query('UPDATE iree_tuned.meta SET version = 99');
    await expect(migrateTeam(connectionTo(database.url))).rejects.toThrow(
      `was migrated by a newer iree-compile-tuned (schema 99, this one knows ${TEAM_SCHEMA_VERSION}): update iree-compile-tuned`,
    );
  });

  test('changes nothing when it fails', async () => {
    const database = await teamDatabase();
    const before = await stateOf(database);
    const directory = withAnother('CREATE TABLE half (); SELECT 1 / 0');
    const connection = connectionTo(database.url);
    const plan = { version: TEAM_SCHEMA_VERSION + 1, directory };
    await expect(migrateTeam(connection, plan)).rejects.toThrow('division by zero');
    expect(await stateOf(database)).toEqual(before);
    expect(await database.query(`SELECT to_regclass('iree_tuned.half') AS half`)).toEqual([{ half: null }]);
    expect((await migrateTeam(connection)).from).toBe(TEAM_SCHEMA_VERSION);
  });

  test('fails for a login without the right', async () => {
    const database = await teamDatabase();
    const writer = connectionTo(await database.login('writer', { in: 'iree_tuned_writer' }));
    await expect(migrateTeam(writer)).rejects.toThrow('permission denied');
  });

  test('refuses a database of another encoding', async () => {
    const server = await testServer();
    const database = await server.database();
    await database.query(
      `CREATE DATABASE ${database.name}_latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
    );
    const url = database.url.replace(database.name, `${database.name}_latin`);
    await expect(migrateTeam(connectionTo(url))).rejects.toThrow("create a database with ENCODING 'UTF8'");
  });
});
