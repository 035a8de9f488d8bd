// Opens the exchange of a database. Separate from open.ts, because no build needs it.
import { isServer } from '../settings/address.ts';
import { StoreError } from './errors.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { OpenOptions } from './sqlite/connect.ts';
import { openSqliteExchange } from './sqlite/exchange.ts';

/** Opens a SQLite path. Throws `StoreError`. */
export function openExchange(location: string, options: OpenOptions = {}): Exchange {
  // Without the URL, because it may contain a password.
  if (isServer(location))
    throw new StoreError(
      'unavailable',
      'the database cannot be a PostgreSQL server: give the path of a SQLite file',
    );
  return openSqliteExchange(location, options);
}
