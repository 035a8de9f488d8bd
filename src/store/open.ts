// Opens the store of a database. Loads the driver on demand.
import { existsSync, statSync } from 'node:fs';
import { StoreError, type StoreErrorKind } from './errors.ts';
import type { SqliteOptions } from './sqlite/sqlite.ts';
import type { Store } from './store.ts';

/** Opens a SQLite path. Rejects with `StoreError`. */
export async function openStore(location: string, options: SqliteOptions = {}): Promise<Store> {
  const { openSqliteStore } = await import('./sqlite/sqlite.ts').catch((error: unknown) => {
    throw new StoreError(
      'unavailable',
      'the SQLite driver could not be loaded: install iree-compile-tuned again; builds go on without tuning',
      { cause: error },
    );
  });
  return openSqliteStore(location, options);
}

/** Errors after which a read may work. */
const READABLE: readonly StoreErrorKind[] = ['network', 'unwritable', 'future'];

/**
 * Like `openStore`, but opens a database read-only if it cannot be written: on a network or read-only disk, without permission, or newer.
 * @returns why it is read-only against the request; null if it is not
 */
export async function openAsFarAsPossible(
  location: string,
  options: SqliteOptions = {},
): Promise<{ readonly store: Store; readonly whyReadonly: string | null }> {
  try {
    return { store: await openStore(location, options), whyReadonly: null };
  } catch (error) {
    if (!(error instanceof StoreError) || !READABLE.includes(error.kind)) throw error;
    const store = await openStore(location, { ...options, readonly: true }).catch((reason: unknown) => {
      // For a missing or empty file report the first error.
      throw existsSync(location) && statSync(location).size > 0 ? reason : error;
    });
    return { store, whyReadonly: `${error.message}; it is read-only now` };
  }
}
