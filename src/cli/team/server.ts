// The fleet's queue, and a guard of what leaves this machine.
import { serverDatabase, type ServerDatabase } from '../../fleet/database.ts';
import { PROJECT_FILE } from '../../settings/files.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { UserError } from '../../system/user-error.ts';
import { UsageError } from '../failure.ts';

/**
 * Guards the way of records to a team.
 * @throws UserError if the database is the choice of a project that the user does not trust
 */
export function requireOwnDatabase({ settings }: Surroundings): void {
  if (settings.isForeignDatabase)
    throw new UserError(
      `the project's ${PROJECT_FILE} sets the database ${settings.database}, and a database of a project never goes to a team: ` +
        'name your own database with --db',
    );
}

/**
 * The database of the fleet's queue.
 * @param application name of the connection on the server
 * @throws UsageError if none is set
 */
export function fleetDatabase({ settings, env }: Surroundings, application?: string): ServerDatabase {
  if (settings.fleet === undefined)
    throw new UsageError(
      'no fleet is set: set IREE_TUNED_FLEET, or "fleet" in a settings file, to postgres://user@host/database',
    );
  return serverDatabase(settings.fleet, env, application);
}

/**
 * Guards commands of the fleet, whose results come through a base.
 * @throws UsageError without a base
 */
export function requireBase({ settings }: Surroundings): void {
  if (settings.bases.length === 0)
    throw new UsageError(
      'results of the fleet come through a base: set IREE_TUNED_TEAM to its folder or address',
    );
}

/** The folder of the fleet's models: of the option, else the first base in a folder; null without both. */
export const modelsFolder = (option: string | undefined, { settings }: Surroundings): string | null =>
  option ?? settings.bases.find((base) => base.kind === 'folder')?.path ?? null;
