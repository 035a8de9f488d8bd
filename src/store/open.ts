// From the text of IREE_TUNED_DB to an open store. Only the driver that is needed gets loaded.
import { StoreError } from './errors.ts';
import type { SqliteOptions } from './sqlite/sqlite.ts';
import type { Store } from './store.ts';

/** Opens a SQLite path. Rejects with `StoreError`; a `postgres://` address is not supported yet. */
export async function openStore(location: string, options: SqliteOptions = {}): Promise<Store> {
  if (/^postgres(ql)?:/i.test(location)) {
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
