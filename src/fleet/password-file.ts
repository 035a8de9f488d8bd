// Passwords from the places that PostgreSQL's tools use. The package `pgpass` is no use: it skips lines under 11 characters, misreads
// `\\:`, and prints warnings.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { homeDirectory } from '../settings/files.ts';
import { resultOr } from '../system/result-or.ts';
import type { Address } from './address.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The password of the URL, else `PGPASSWORD`, else from `PGPASSFILE` or `~/.pgpass`; empty for none. */
export function passwordFor(address: Address, env: Environment): string {
  return address.password ?? env['PGPASSWORD'] ?? findPassword(readFile(env), address) ?? '';
}

/** The text of the password file. It ignores a file that others may read, as PostgreSQL does. */
function readFile(env: Environment): string {
  const path = env['PGPASSFILE'] ?? join(homeDirectory(env), '.pgpass');
  return resultOr(() => ((statSync(path).mode & 0o077) === 0 ? readFileSync(path, 'utf8') : ''), '');
}

/**
 * The password of the first line `host:port:database:user:password` that matches; null for none. `*` matches any value. A backslash
 * escapes a colon or a backslash.
 */
export function findPassword(
  text: string,
  { host, port, database, user }: Pick<Address, 'host' | 'port' | 'database' | 'user'>,
): string | null {
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = [...line.matchAll(/((?:[^:\\]|\\.)*)(?::|$)/g)].map(([, field]) => field!);
    if (fields.length < 5) continue;
    const plain = fields.slice(0, 5).map((field) => field.replace(/\\(.)/g, '$1'));
    if (wanted.every((value, i) => fields[i] === '*' || plain[i] === value)) return plain[4]!;
  }
  return null;
}
