// PostgreSQL for tests: one server for the whole run, with a new database for each caller. It listens on a free port, and on a socket in a
// temporary folder. A server ends with the process that started it, however that process ends.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, statfsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { ONE_POSTGRES, type ServerAddress } from './one-postgres.ts';

/** The folder of `psql`, `pg_dump` and the other programs; null without PostgreSQL. */
export const postgresPrograms: string | null = findPostgres();

/** Why no server can start here; null if one can. */
export const whyNoPostgres: string | null = postgresPrograms === null ? 'no PostgreSQL is installed' : null;

/** A new database. */
export interface TestDatabase {
  readonly name: string;
  readonly port: number;
  /** URL of the superuser, through the socket. */
  readonly url: string;
  /** URL of a new login with a password, through TCP. */
  login(name: string, options?: { readonly in?: string }): Promise<string>;
  /** Runs a statement as the superuser, and returns its rows. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

export interface TestServer {
  readonly port: number;
  /** The folder of its socket. */
  readonly folder: string;
  database(): Promise<TestDatabase>;
  /** A new copy of the database `template`. The first caller of all processes makes the template, which then refuses connections. */
  copyOf(template: string, make: () => Promise<TestDatabase>): Promise<TestDatabase>;
}

/** For tests that stop their server or change its settings. */
export interface OwnServer extends TestServer {
  /** Stops the server immediately, without waiting for connections. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

let shared: Promise<TestServer> | undefined;

/** The server of this run; without vitest, of this process. */
export const testServer = (): Promise<TestServer> => (shared ??= findServer());

/** A new database on the server of this run. */
export const testDatabase = async (): Promise<TestDatabase> => (await testServer()).database();

async function findServer(): Promise<TestServer> {
  const port = process.env[ONE_POSTGRES];
  if (port === undefined) return startSharedServer();
  const answer = JSON.parse(await text(connect(Number(port), '127.0.0.1'))) as ServerAddress;
  if ('whyNot' in answer) throw new Error(answer.whyNot);
  return serverAt(answer, true);
}

/** The folder of the newest PostgreSQL's programs. */
function findPostgres(): string | null {
  const places = ['/usr/lib/postgresql', '/usr/local/lib/postgresql'].flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .sort((a, b) => Number(b) - Number(a))
          .map((version) => join(folder, version, 'bin'))
      : [],
  );
  const inPath = (process.env['PATH'] ?? '').split(':');
  return [...places, ...inPath].find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** PostgreSQL refuses to run as root. */
const NOBODY = 65534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Bytes: a run fills less. */
const ROOM = 4 * 2 ** 30;

/** In memory if there is room, because copies of databases take several times as long on a disk. Benchmarks use the disk. */
function folderForServer(): string {
  const memory = '/dev/shm';
  if (process.env['VITEST'] === undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, process.availableMemory()) > ROOM ? memory : tmpdir();
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });

/** Starts a server for many tests. Autovacuum would visit many databases that live for seconds. */
export const startSharedServer = (): Promise<TestServer> =>
  startServer(['autovacuum=off', 'max_wal_size=128MB', 'max_connections=500']);

/**
 * Starts a new server.
 * @param more settings, as NAME=VALUE
 */
export async function startServer(more: readonly string[] = []): Promise<OwnServer> {
  const programs = postgresPrograms;
  if (programs === null) throw new Error(whyNoPostgres ?? 'no PostgreSQL');
  const folder = mkdtempSync(join(folderForServer(), 'iree-tuned-pg-'));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const env = { ...process.env, LC_ALL: 'C', PGOPTIONS: undefined };
  const initdb = ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--no-sync'];
  await promisify(execFile)(
    join(programs, 'initdb'),
    [...initdb, '--auth-local=trust', '--auth-host=scram-sha-256'],
    { ...user, env, cwd: folder },
  );
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'fsync=off',
    'max_connections=150',
    ...more,
  ];
  const words = [
    join(programs, 'postgres'),
    '-D',
    data,
    '-k',
    folder,
    ...settings.flatMap((one) => ['-c', one]),
  ];
  // When this process ends for any reason, the shell's stdin closes. The shell then ends the server and removes the folder.
  const script = `
    launch() { "$@" >>"$LOG" 2>&1 & server=$!; }
    end() { [ -z "$server" ] || { kill -QUIT $server; wait $server; }; server=; }
    launch "$@"
    while read -r order; do
      if [ "$order" = stop ]; then end; echo ended; else launch "$@"; fi
    done
    end
    rm -rf "$PLACE"`;
  const shell = spawn('sh', ['-c', script, 'sh', ...words], {
    ...user,
    env: { ...env, LOG: join(folder, 'log'), PLACE: folder },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    // Ctrl-C must reach this process only.
    detached: true,
  });
  shell.unref();
  for (const stream of [shell.stdin, shell.stdout]) (stream as unknown as { unref(): void }).unref();
  const ready = async () => {
    for (let attempt = 0; ; attempt++) {
      const client = superuserOf({ port, folder }, 'postgres');
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (attempt > 600) throw error;
        await sleep(50);
      }
    }
  };
  await ready();
  return {
    ...serverAt({ port, folder }),
    async stop() {
      const ended = new Promise((resolve) => shell.stdout.once('data', resolve));
      (shell.stdout as unknown as { ref(): void }).ref();
      shell.stdin.write('stop\n');
      await ended;
      (shell.stdout as unknown as { unref(): void }).unref();
    },
    async start() {
      shell.stdin.write('start\n');
      await ready();
    },
  };
}

/** Idle connections that a process keeps open, one for each database. */
const KEPT_CONNECTIONS = 3;

interface Place {
  readonly port: number;
  readonly folder: string;
}

const superuserOf = ({ port, folder }: Place, database: string) =>
  new pg.Client({ host: folder, port, user: 'postgres', database, password: () => '' });

/**
 * The databases of a running server.
 * @param keeps whether idle connections stay open; not for a server that a test stops
 */
function serverAt(place: Place, keeps = false): TestServer {
  const { port, folder } = place;
  /** Connections by database, kept because opening one takes longer than most statements. */
  const idle = new Map<string, pg.Client>();
  const keep = (name: string, client: pg.Client) => {
    idle.set(name, client);
    const [oldest, surplus] = [...idle][0]!;
    if (idle.size <= KEPT_CONNECTIONS) return;
    idle.delete(oldest);
    void surplus.end();
  };
  const connected = async (name: string) => {
    const client = superuserOf(place, name);
    client.on('error', () => {
      if (idle.get(name) === client) idle.delete(name);
    });
    await client.connect();
    return client;
  };
  const asSuperuser = async <T>(name: string, action: (client: pg.Client) => Promise<T>): Promise<T> => {
    const known = idle.get(name);
    idle.delete(name);
    const client = known ?? (await connected(name));
    let isSound = false;
    try {
      const result = await action(client);
      isSound = true;
      return result;
    } finally {
      if (isSound && keeps && !idle.has(name)) keep(name, client);
      else await client.end();
    }
  };
  const databaseOf = (name: string): TestDatabase => {
    const query = (statement: string, values: readonly unknown[] = []) =>
      asSuperuser(
        name,
        async (client) => (await client.query<Record<string, unknown>>(statement, [...values])).rows,
      );
    return {
      name,
      port,
      url: `postgres://postgres@localhost:${port}/${name}?host=${encodeURIComponent(folder)}`,
      query,
      async login(login, options = {}) {
        // Logins belong to the server, so their names contain the name of the database.
        const own = `${login}_${name}`;
        const member = options.in === undefined ? '' : ` IN ROLE ${options.in}`;
        await query(`CREATE ROLE ${own} LOGIN PASSWORD 'secret of ${login}'${member}`);
        return `postgres://${own}:secret%20of%20${login}@127.0.0.1:${port}/${name}`;
      },
    };
  };
  const run = randomBytes(4).toString('hex');
  let count = 0;
  const create = async (template = 'template1') => {
    const name = `test_${run}_${count++}`;
    await asSuperuser('postgres', (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
    return databaseOf(name);
  };
  /** Makes the template in one process. The other processes wait. */
  const makeOnce = (template: string, make: () => Promise<TestDatabase>) =>
    asSuperuser('postgres', async (client) => {
      await client.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
      try {
        const known = await client.query('SELECT FROM pg_database WHERE datname = $1', [template]);
        if (known.rows.length > 0) return;
        const { name } = await make();
        // PostgreSQL does not copy a database with open connections.
        await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
        const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1';
        while ((await client.query(end, [name])).rows.length > 0) await sleep(10);
        await client.query(`ALTER DATABASE ${name} RENAME TO ${template}`);
      } finally {
        await client.query('SELECT pg_advisory_unlock(hashtext($1))', [template]);
      }
    });
  const made = new Map<string, Promise<void>>();
  return {
    port,
    folder,
    database: () => create(),
    async copyOf(template, make) {
      const making = made.get(template) ?? makeOnce(template, make);
      made.set(template, making);
      await making;
      return create(template);
    },
  };
}
