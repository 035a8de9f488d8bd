// From the text of IREE_TUNED_DB to an open store. Only the driver that is needed gets loaded.
import { existsSync, statSync } from 'node:fs';
import { isServer } from '../settings/address.ts';
import { StoreError, type StoreErrorKind } from './errors.ts';
import type { SqliteOptions } from './sqlite/sqlite.ts';
import type { Store } from './store.ts';

/** Opens a SQLite path. Rejects with `StoreError`; a `postgres://` address is not supported yet. */
export async function openStore(location: string, options: SqliteOptions = {}): Promise<Store> {
  if (isServer(location)) {
    // The address is left out: it may hold a password.
    throw new StoreError(
      'unavailable',
      'this version does not support PostgreSQL databases yet: set IREE_TUNED_DB to a SQLite file',
    );
  }
  const { openSqliteStore } = await import('./sqlite/sqlite.ts').catch((error: unknown) => {
    throw new StoreError(
      'unavailable',
      'the SQLite driver could not be loaded: install iree-compile-tuned again; builds go on without tuning',
      { cause: error },
    );
  });
  return openSqliteStore(location, options);
}

/** A store, and why it can only be read, though it was to be written; null when it can, or was not to be. */
export interface Opened {
  readonly store: Store;
  readonly whyReadonly: string | null;
}

/** Of these the file is still read. */
const READABLE: readonly StoreErrorKind[] = ['network', 'unwritable', 'future'];

/**
 * The same, except that a database that this program must not or cannot write is opened to be read: it lies on a network disk or on a
 * read-only one, is somebody else's, or has a newer schema.
 */
export async function openAsFarAsPossible(location: string, options: SqliteOptions = {}): Promise<Opened> {
  try {
    return { store: await openStore(location, options), whyReadonly: null };
  } catch (error) {
    if (!(error instanceof StoreError) || !READABLE.includes(error.kind)) throw error;
    const store = await openStore(location, { ...options, readonly: true }).catch((reason: unknown) => {
      // Of a file that is not there yet, or was only begun, the first reason counts.
      throw existsSync(location) && statSync(location).size > 0 ? reason : error;
    });
    return { store, whyReadonly: `${error.message}; it is only read` };
  }
}
