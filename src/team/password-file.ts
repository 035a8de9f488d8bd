// Passwords where PostgreSQL's own tools look for them, so that none has to stand in a URL.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { homeDirectory } from '../settings/locations.ts';
import type { Address } from './address.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The password of a URL, else `PGPASSWORD`, else that of a line of `PGPASSFILE` or `~/.pgpass`; empty where there is none. */
export function passwordFor(address: Address, env: Environment): string {
  return address.password ?? env['PGPASSWORD'] ?? findPassword(readFile(env), address) ?? '';
}

/** As PostgreSQL does, a file that others may read does not count. */
function readFile(env: Environment): string {
  const path = env['PGPASSFILE'] ?? join(homeDirectory(env), '.pgpass');
  try {
    return (statSync(path).mode & 0o077) === 0 ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/**
 * The password of the first line `host:port:database:user:password` that fits; null when none does. `*` stands for
 * anything, and a backslash before a colon or a backslash for that.
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
