// The team's server, as commands ask it.
import { queueDatabase, type QueueDatabase } from '../../fleet/database.ts';
import { PROJECT_FILE } from '../../settings/files.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { readAddress, type Address } from '../../team/address.ts';
import { openConnection, type Connection } from '../../team/connection.ts';
import { failureOf } from '../../team/failure.ts';
import { passwordFor } from '../../team/password-file.ts';
import { openTeam } from '../../team/postgres.ts';
import type { Answer, Team } from '../../team/team.ts';
import { UserError } from '../../system/user-error.ts';
import { UsageError } from '../failure.ts';

/** Limit of one question; builds wait less. */
export const COMMAND_LIMIT_MS = 30_000;

/**
 * Guards a push of the database to the team.
 * @throws UserError if the database is the choice of a project that the user does not trust
 */
export function requireOwnDatabase({ settings }: Surroundings): void {
  if (settings.isForeignDatabase)
    throw new UserError(
      `the project's ${PROJECT_FILE} sets the database ${settings.database}, and a database of a project is never pushed to a team: ` +
        'name your own database with --db',
    );
}

/** URL of the team's server. @throws UsageError if none is set */
export function teamUrl({ settings }: Surroundings): string {
  if (settings.team !== undefined) return settings.team;
  throw new UsageError(
    'no team is set: add --team postgres://user@host/database, or set IREE_TUNED_TEAM or "team" in a settings file',
  );
}

/** Opens the team's server for an action. */
export async function withTeam<T>(
  surroundings: Surroundings,
  action: (team: Team, url: string) => Promise<T>,
): Promise<T> {
  const url = teamUrl(surroundings);
  const team = openTeam(url, surroundings.env);
  try {
    return await action(team, url);
  } finally {
    team.close();
  }
}

/** The value of an answer. @throws UserError with the reason of a failure */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new UserError(answer.failure.reason);
}

const addressOf = (surroundings: Surroundings) => {
  const address = readAddress(teamUrl(surroundings));
  return { address, password: passwordFor(address, surroundings.env) };
};

/** Opens the database of the team's queue for an action. */
export async function withQueue<T>(
  surroundings: Surroundings,
  action: (database: QueueDatabase) => Promise<T>,
): Promise<T> {
  const { address, password } = addressOf(surroundings);
  const database = queueDatabase(address, password);
  try {
    return await action(database);
  } finally {
    database.close();
  }
}

/** A connection for statements beyond the server's functions. */
export async function withConnection<T>(
  surroundings: Surroundings,
  action: (connection: Connection, address: Address) => Promise<T>,
): Promise<T> {
  const { address, password } = addressOf(surroundings);
  const connection = openConnection(address, password);
  try {
    return await action(connection, address);
  } catch (error) {
    if (error instanceof UserError) throw error;
    // The driver's error may contain the password.
    throw new UserError(failureOf(error, address, password).reason);
  } finally {
    connection.close();
  }
}
