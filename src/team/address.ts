// From the URL of a team's server to what a connection takes.
import { readFileSync } from 'node:fs';
import { withoutPassword } from '../settings/address.ts';
import { userName } from '../store/author.ts';
import { UserError } from '../system/user-error.ts';

export interface Address {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Undefined where the URL has none. */
  readonly password: string | undefined;
  readonly database: string;
  readonly tls: Tls | null;
  /** For people: without the password. */
  readonly shown: string;
}

export interface Tls {
  /** Whether the certificate has to be of that host, and signed by somebody who is trusted. */
  readonly verified: boolean;
  /** Text of the certificates that are trusted instead of the system's. */
  readonly authorities: string | undefined;
}

const DEFAULT_PORT = 5432;

/**
 * Reads `postgres://user:password@host:port/database?sslmode=...&sslrootcert=...`; `host`, `port`, `user` and `password` may
 * stand behind the `?`, too. `sslmode` is `disable`, `require` (encrypted) or `verify-full`, which it is where nothing is
 * said, but for sockets and this very machine.
 * @throws UserError when it says something else
 */
export function readAddress(text: string): Address {
  const url = new URL(text);
  const shown = withoutPassword(text);
  const { searchParams: parameters } = url;
  for (const name of parameters.keys())
    if (!KNOWN.includes(name))
      throw new UserError(`${shown}: "${name}" is not understood: it takes ${KNOWN.join(', ')}`);
  const said = (name: string, inUrl: string) => parameters.get(name) ?? decoded(inUrl, shown);
  const host = said('host', url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost';
  const user = said('user', url.username) || (process.env['PGUSER'] ?? userName('postgres'));
  return {
    host,
    port: portOf(said('port', url.port), shown),
    user,
    password: said('password', url.password) || undefined,
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
    throw new UserError(`${shown}: a % that is no part of a %XX has to be written as %25`);
  }
}

function portOf(text: string, shown: string): number {
  if (text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65536) return port;
  throw new UserError(`${shown}: ${text} is no port`);
}

const isHere = (host: string) => host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host);

function tlsOf(parameters: URLSearchParams, host: string, shown: string): Tls | null {
  const mode = parameters.get('sslmode') ?? (isHere(host) ? 'disable' : 'verify-full');
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
      throw new UserError(`${shown}: sslmode=${mode}: it takes disable, require or verify-full`);
  }
}

function readAuthorities(file: string, shown: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`${shown}: sslrootcert=${file} cannot be read`, { cause: error });
  }
}
