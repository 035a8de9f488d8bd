// The address of the fleet's server and its password. The driver's own parser (pg-connection-string) is no use: it accepts unknown
// parameters, prints warnings, and decodes a password with both a space and `%2F` wrongly. Nor is the package `pgpass`: it skips lines
// under 11 characters, misreads `\\:`, and prints warnings.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { withoutPassword } from '../settings/address.ts';
import { homeDirectory } from '../settings/files.ts';
import { userName } from '../store/author.ts';
import { resultOr } from '../system/result-or.ts';
import { UserError } from '../system/user-error.ts';

export interface Address {
  /** Host name, IP address, or folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Undefined if the URL has none. */
  readonly password: string | undefined;
  readonly database: string;
  readonly tls: {
    /** Whether the certificate must match the host and have a trusted issuer. */
    readonly verified: boolean;
    /** PEM certificates to trust instead of the system's. */
    readonly authorities: string | undefined;
  } | null;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

const DEFAULT_PORT = 5432;

/**
 * Reads `postgres://user:password@host:port/database?sslmode=...&sslrootcert=...`. `host`, `port`, `user` and `password` may also be
 * parameters. `sslmode` is `disable`, `require` (encrypted, unverified) or `verify-full`. Its default is `verify-full`, and `disable` for
 * a socket or this machine.
 * @throws UserError for other parameters and values
 */
export function readAddress(text: string): Address {
  const url = new URL(text);
  const shown = withoutPassword(text);
  const { searchParams: parameters } = url;
  for (const name of parameters.keys())
    if (!KNOWN.includes(name))
      throw new UserError(`${shown}: unknown parameter "${name}": the URL takes ${KNOWN.join(', ')}`);
  const valueOf = (name: string, inUrl: string) => parameters.get(name) ?? decoded(inUrl, shown);
  const host = valueOf('host', url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost';
  const user = valueOf('user', url.username) || (process.env['PGUSER'] ?? userName('postgres'));
  return {
    host,
    port: portOf(valueOf('port', url.port), shown),
    user,
    password: valueOf('password', url.password) || undefined,
    database: decoded(url.pathname.slice(1), shown) || user,
    tls: tlsOf(parameters, host, shown),
    shown,
  };
}

const KNOWN = ['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert'];

function decoded(text: string, shown: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UserError(`${shown}: write % as %25, except in an escape such as %2F`);
  }
}

function portOf(text: string, shown: string): number {
  if (text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65536) return port;
  throw new UserError(`${shown}: ${text} is not a port`);
}

const isLocal = (host: string) => host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host);

function tlsOf(parameters: URLSearchParams, host: string, shown: string): Address['tls'] {
  const mode = parameters.get('sslmode') ?? (isLocal(host) ? 'disable' : 'verify-full');
  const file = parameters.get('sslrootcert');
  switch (mode) {
    case 'disable':
      return null;
    case 'require':
    case 'verify-full':
      return {
        verified: mode === 'verify-full',
        authorities: file === null ? undefined : readAuthorities(file, shown),
      };
    default:
      throw new UserError(`${shown}: sslmode=${mode}: use disable, require or verify-full`);
  }
}

function readAuthorities(file: string, shown: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`${shown}: sslrootcert=${file} cannot be read`, { cause: error });
  }
}

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
