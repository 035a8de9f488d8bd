// Opens the exchange of a database. Separate from open.ts, because no build needs it.
import type { Exchange } from './exchange/exchange.ts';
import { refuseServer } from './open.ts';
import type { OpenOptions } from './sqlite/connect.ts';
import { openSqliteExchange } from './sqlite/exchange.ts';

/** Opens a SQLite path. Throws `StoreError`. */
export function openExchange(location: string, options: OpenOptions = {}): Exchange {
  refuseServer(location);
  return openSqliteExchange(location, options);
}
