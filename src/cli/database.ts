// The database of a command.
import { statSync } from 'node:fs';
import { withBases } from '../base/open.ts';
import { isServer } from '../settings/address.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import { openExchange } from '../store/sqlite/exchange.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { resultOr } from '../system/result-or.ts';
import { UserError } from '../system/user-error.ts';
import { warn } from './output.ts';

export function openDatabase({ settings }: Surroundings): Promise<Store> {
  const { database, readonly, author } = settings;
  return openStore(database, { readonly, author, onMigrated: warn });
}

/**
 * Opens the database to read: nothing is written, a migration included.
 * @throws UserError without a database
 */
export function openToRead(surroundings: Surroundings): Promise<Store> {
  requireDatabase(surroundings);
  const { database, author } = surroundings.settings;
  return openStore(database, { readonly: true, author });
}

/** Opens the database to read; null without a database. */
export const openIfThere = async (surroundings: Surroundings): Promise<Store | null> =>
  isThere(surroundings) ? openToRead(surroundings) : null;

/** The database for decisions at a site, above the team's bases; null without both. */
export const openWithBases = async (site: Site, surroundings: Surroundings): Promise<Store | null> =>
  withBases(await openIfThere(surroundings), [placeOf(site)], surroundings);

/**
 * Refuses a missing database: a mistyped name must not create one.
 * @throws UserError
 */
export function requireDatabase(surroundings: Surroundings): void {
  if (!isThere(surroundings)) throw missingDatabase(surroundings);
}

export const missingDatabase = ({ settings }: Surroundings): UserError =>
  new UserError(
    `there is no tuning database ${settings.database}: builds and iree-tuned tune create it; ` +
      `--db or IREE_TUNED_DB names another one`,
  );

/** Whether the database exists. True for a path that cannot be examined: opening it gives the reason. */
export const isThere = ({ settings: { database } }: Surroundings): boolean =>
  isServer(database) || resultOr(() => statSync(database, { throwIfNoEntry: false }) !== undefined, true);

/** All lines of the database, to read and write. */
export const openLines = ({ settings }: Surroundings): Exchange =>
  openExchange(settings.database, { readonly: settings.readonly, onMigrated: warn });
