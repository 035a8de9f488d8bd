// From the text of IREE_TUNED_DB to all that is in it. Not in open.ts: no build needs any of this.
import { isServer } from '../settings/address.ts';
import { StoreError } from './errors.ts';
import type { Exchange } from './exchange/exchange.ts';
import { openSqliteExchange, type ExchangeOptions } from './sqlite/exchange.ts';

/** Opens a SQLite path. Throws `StoreError`. */
export function openExchange(location: string, options: ExchangeOptions = {}): Exchange {
  // The address is left out: it may hold a password.
  if (isServer(location))
    throw new StoreError('unavailable', 'a PostgreSQL server is no file: give the path of a SQLite database');
  return openSqliteExchange(location, options);
}
