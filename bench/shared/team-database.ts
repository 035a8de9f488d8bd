// A team's database in a PostgreSQL of the bench.
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import { migrateTeam } from '../../src/team/migrate.ts';
import { ROLES_SQL } from '../../src/team/roles.ts';
import { whyNoPostgres, type TestDatabase, type TestServer } from '../../test/support/postgres.ts';
import { BenchError } from './arguments.ts';

/** Time limit of one statement. */
export const LIMIT_MS = 600_000;

/** @throws BenchError without PostgreSQL */
export function requirePostgres(): void {
  if (whyNoPostgres !== null) throw new BenchError(whyNoPostgres);
}

/** A new database with the team's roles and tables. */
export async function teamDatabase(server: TestServer): Promise<TestDatabase> {
  const database = await server.database();
  const owner = openConnection(readAddress(database.url), '');
  await owner.query(ROLES_SQL, [], LIMIT_MS);
  await migrateTeam(owner);
  owner.close();
  return database;
}
