// A PostgreSQL server of the tests' own: one for each worker, on a free port and a socket in a temporary folder, with a new
// database for whoever wants one. It ends with the process that started it, however that ends.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** The folder of `psql`, `pg_dump` and the like; null where no server can be started. */
export const postgresPrograms: string | null = findPostgres();

/** Why no server can be started here; null when one can. Said on stderr by whoever asks, once. */
export const whyNoPostgres: string | null = postgresPrograms === null ? 'no PostgreSQL is installed' : null;
if (whyNoPostgres !== null) process.stderr.write(`SKIPPED: tests of a team's server: ${whyNoPostgres}\n`);

/** A database that nobody else uses. */
export interface TestDatabase {
  readonly name: string;
  readonly port: number;
  /** URL of the superuser, through the socket. */
  readonly url: string;
  /** URL of a login of its own, with a password, through TCP. */
  login(name: string, options?: { readonly in?: string }): Promise<string>;
  /** Rows of a statement, as the superuser. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

export interface TestServer {
  readonly port: number;
  /** The folder of its socket. */
  readonly folder: string;
  /** @param template a database that nobody is connected to, of which this one is a copy */
  database(template?: TestDatabase): Promise<TestDatabase>;
  /** Stops it in the middle of everything, and starts it again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

let shared: Promise<TestServer> | undefined;

/** The worker's server, started when it is first wanted. */
export const testServer = (): Promise<TestServer> => (shared ??= startServer());

/** A new database on it. */
export const testDatabase = async (): Promise<TestDatabase> => (await testServer()).database();

/** The newest installed; the folder of its programs. */
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

/** A server of one's own, for who stops it. */
export async function startServer(): Promise<TestServer> {
  const programs = postgresPrograms;
  if (programs === null) throw new Error(whyNoPostgres ?? 'no PostgreSQL');
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-pg-'));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const env = { ...process.env, LC_ALL: 'C', PGOPTIONS: undefined };
  execFileSync(
    join(programs, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--no-sync',
      '--auth-local=trust',
      '--auth-host=scram-sha-256',
    ],
    { ...user, env, cwd: folder, stdio: 'pipe' },
  );
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'fsync=off', 'max_connections=150'];
  const words = [
    join(programs, 'postgres'),
    '-D',
    data,
    '-k',
    folder,
    ...settings.flatMap((one) => ['-c', one]),
  ];
  // The shell does what it is told until we end, whatever ends us, and takes the server and its folder with it.
  const script = `
    launch() { "$@" >>"$LOG" 2>&1 & server=$!; }
    end() { kill -QUIT $server 2>/dev/null; wait $server; }
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
    // A Ctrl-C is ours to end by, not the server's.
    detached: true,
  });
  shell.unref();
  for (const stream of [shell.stdin, shell.stdout]) (stream as unknown as { unref(): void }).unref();
  const admin = (name: string) =>
    new pg.Client({ host: folder, port, user: 'postgres', database: name, password: () => '' });
  const ready = async () => {
    for (let attempt = 0; ; attempt++) {
      const client = admin('postgres');
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (attempt > 600) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  await ready();
  const run = async (name: string, text: string, values: readonly unknown[] = []) => {
    const client = admin(name);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  let count = 0;
  return {
    port,
    folder,
    async database(template) {
      const name = `test_${process.pid}_${count++}`;
      await run('postgres', `CREATE DATABASE ${name} TEMPLATE ${template?.name ?? 'template1'}`);
      return {
        name,
        port,
        url: `postgres://postgres@localhost:${port}/${name}?host=${encodeURIComponent(folder)}`,
        query: (text, values) => run(name, text, values),
        async login(login, options = {}) {
          const own = `${login}_${name}`;
          await run(name, `CREATE ROLE ${own} LOGIN PASSWORD 'secret of ${login}'`);
          if (options.in !== undefined) await run(name, `GRANT ${options.in} TO ${own}`);
          return `postgres://${own}:secret%20of%20${login}@127.0.0.1:${port}/${name}`;
        },
      };
    },
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
