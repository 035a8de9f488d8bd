// @module-tag slow
// Servers that are gone, silent, slow, closed or no PostgreSQL: every call ends in time, with a reason and without a password.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { findPassword, readAddress } from '../../src/fleet/address.ts';
import { serverDatabase, ServerError, type ServerDatabase } from '../../src/fleet/database.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { startServer, testDatabase, whyNoPostgres, type OwnServer } from '../support/postgres.ts';

/** A limit that only a hang exceeds. */
const LONG = 60_000;

const SECRET = 'p4ss w/rd';

/** A server that runs `deed` for each connection. */
async function serverThat(deed: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    deed(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

const urlOf = (port: number, rest = '') =>
  `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:${port}/tuning${rest}`;

/** A database whose connection closes after the test. */
function connected(
  url: string,
  env: Readonly<Record<string, string>> = {},
  limitMs: number = LONG,
): ServerDatabase {
  const database = serverDatabase(url, env, undefined, limitMs);
  onTestFinished(() => {
    database[Symbol.dispose]();
  });
  return database;
}

const ONE = 'SELECT 1 AS one';

/** The error of a question. Checks that it does not contain the password. */
async function refusalBy(database: ServerDatabase, question = ONE): Promise<ServerError> {
  const error: unknown = await database.rows(question).catch((reason: unknown) => reason);
  if (!(error instanceof ServerError)) throw new Error('was answered');
  expect(error.message).not.toContain(SECRET);
  expect(error.message).not.toContain(encodeURIComponent(SECRET));
  return error;
}

const refusalOf = (url: string, limitMs = LONG) => refusalBy(connected(url, {}, limitMs));

/** A result, and the milliseconds that the action took. */
async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
  const begun = performance.now();
  return [await action(), performance.now() - begun];
}

test('a server that refuses the connection is unreachable', async () => {
  expect(await refusalOf(urlOf(1))).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('ECONNREFUSED') as string,
  });
});

test.each([
  ['accepts and sends nothing', () => undefined],
  ['repeats its input', (socket: Socket) => socket.pipe(socket)],
  [
    'sends a byte now and then',
    (socket: Socket) => {
      const timer = setInterval(() => socket.write('N'), 20);
      socket.on('close', () => {
        clearInterval(timer);
      });
    },
  ],
] as const)('a call to a server that %s ends at its limit', async (_, deed) => {
  const port = await serverThat(deed);
  const [failure, took] = await timed(() => refusalOf(urlOf(port), 200));
  expect(failure.kind).toBe('unreachable');
  // With slack for a busy machine.
  expect(took).toBeLessThan(200 + 5000);
});

test.each([
  ['hangs up', (socket: Socket) => socket.destroy()],
  ['speaks HTTP', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['talks nonsense', (socket: Socket) => socket.end(Buffer.alloc(5000, 0xff))],
] as const)('a server that %s is unreachable', async (_, deed) => {
  const port = await serverThat(deed);
  expect((await refusalOf(urlOf(port))).kind).toBe('unreachable');
});

test('an unknown host name is unreachable', async () => {
  const url = `postgres://ada:${SECRET.replace('/', '%2F')}@no.such.host.invalid/x?sslmode=disable`;
  expect((await refusalOf(url, 3000)).kind).toBe('unreachable');
});

test('a message of a server loses its control characters', async () => {
  const port = await serverThat((socket) => {
    const text = `SFATAL\0C3D000\0M\u001b[2J\u0007${SECRET}\r\nboo\0\0`;
    const body = Buffer.from(text);
    const head = Buffer.alloc(5);
    head.write('E');
    head.writeUInt32BE(body.length + 4, 1);
    socket.once('data', () => socket.end(Buffer.concat([head, body])));
  });
  const { message } = await refusalOf(urlOf(port));
  expect(message).toMatch(/\*\*\* +boo/);
  // eslint-disable-next-line no-control-regex -- control characters must be absent
  expect(message).not.toMatch(/[\0-\x1f]/);
});

describe.skipIf(isWithout(whyNoPostgres))('a PostgreSQL server', () => {
  /** A server for tests that restart it or install a certificate. */
  let own: Promise<OwnServer> | undefined;
  const ownServer = () => (own ??= startServer());
  afterAll(async () => {
    await (await own)?.stop();
  });

  test('with another password denies access, and the message lacks the password', async () => {
    const url = new URL(await (await testDatabase()).login('reader'));
    url.password = encodeURIComponent(SECRET);
    expect(await refusalOf(url.href)).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('correct the setting "fleet"') as string,
    });
    url.password = '';
    expect((await refusalOf(url.href)).kind).toBe('denied');
    url.username = 'nobody';
    expect((await refusalOf(url.href)).kind).toBe('denied');
  });

  test('without TLS gets no password when the URL requires TLS', async () => {
    const url = await (await testDatabase()).login('reader');
    expect((await refusalOf(`${url}?sslmode=verify-full`)).kind).toBe('denied');
    expect((await refusalOf(`${url}?sslmode=require`)).kind).toBe('denied');
  });

  test('without the tables is an error that names the way out', async () => {
    const url = await (await testDatabase()).login('reader');
    expect(await refusalBy(connected(url), 'SELECT FROM iree_tuned_queue.job')).toMatchObject({
      kind: 'incompatible',
      message: expect.stringContaining('iree-tuned team queue --install') as string,
    });
  });

  test('that is slow times out, and the next call succeeds', async () => {
    const database = connected((await testDatabase()).url, {}, 1000);
    const [{ message }, took] = await timed(() => refusalBy(database, 'SELECT pg_sleep(60)'));
    expect(message).toContain('no answer within 1000 ms');
    expect(took).toBeLessThan(5000);
    await expect.poll(() => database.rows(ONE).catch(() => null), { timeout: LONG }).toEqual([{ one: 1 }]);
  });

  test('that restarts during a question is unreachable, and the next call succeeds', async () => {
    const server = await ownServer();
    const database = await server.database();
    const connection = connected(database.url);
    const asking = refusalBy(connection, 'SELECT pg_sleep(60)');
    const running = `SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`;
    while ((await database.query(running)).length === 0);
    await server.stop();
    expect((await asking).kind).toBe('unreachable');
    expect((await refusalOf(database.url)).kind).toBe('unreachable');
    await server.start();
    expect(await connection.rows(ONE)).toEqual([{ one: 1 }]);
  });

  test('with a self-signed certificate is denied, unless sslrootcert names it', async () => {
    const server = await ownServer();
    const data = join(server.folder, 'data');
    const [key, certificate] = [join(data, 'server.key'), join(data, 'server.crt')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', '2', '-subj', '/CN=localhost'],
        ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
        ...['-keyout', key, '-out', certificate],
      ],
      { stdio: 'pipe' },
    );
    const owner = process.getuid?.() === 0 ? 65534 : (process.getuid?.() ?? 0);
    for (const file of [key, certificate]) chownSync(file, owner, owner);
    chmodSync(key, 0o600);
    const database = await server.database();
    await database.query(`ALTER SYSTEM SET ssl = on`);
    await database.query('SELECT pg_reload_conf()');
    const url = await database.login('reader');
    expect(await refusalOf(`${url}?sslmode=verify-full`)).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('self-signed') as string,
    });
    const trusted = `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`;
    for (const one of [trusted, `${url}?sslmode=require`])
      expect(await connected(one).rows(ONE)).toEqual([{ one: 1 }]);
  });

  test('runs one query after the other, and rolls a failed transaction back before the next', async () => {
    const database = await (await ownServer()).database();
    const connection = connected(database.url);
    const failed = connection.rows('BEGIN; SELECT 1 / 0; COMMIT');
    const next = connection.rows('SELECT 2 AS two');
    await expect(failed).rejects.toThrow('division by zero');
    expect(await next).toEqual([{ two: 2 }]);
  });

  test('accepts a password from a file or the environment', async () => {
    const database = await testDatabase();
    const url = new URL(await database.login('reader'));
    const password = decodeURIComponent(url.password);
    url.password = '';
    const file = join(temporaryDirectory(), 'pgpass');
    writeFileSync(
      file,
      `# passwords\nanother:*:*:*:wrong\n127.0.0.1:${database.port}:*:${url.username}:${password}\n`,
    );
    chmodSync(file, 0o600);
    for (const env of [{ PGPASSFILE: file }, { PGPASSWORD: password }]) {
      const answer = await connected(url.href, env).rows(ONE);
      expect(answer).toEqual([{ one: 1 }]);
    }
    chmodSync(file, 0o644);
    await expect(connected(url.href, { PGPASSFILE: file }).rows(ONE)).rejects.toThrow(/password/i);
    expect(readFileSync(file, 'utf8')).toContain(password);
  });
});

describe('a URL', () => {
  test.each([
    [
      'postgres://ada:p%40ss@db.example:6543/tuning',
      { host: 'db.example', port: 6543, user: 'ada', password: 'p@ss', database: 'tuning' },
    ],
    [
      'postgresql://ada@[::1]/tuning',
      { host: '::1', port: 5432, user: 'ada', password: undefined, tls: null },
    ],
    [
      'postgres:///tuning?host=/run/postgresql&user=ada',
      { host: '/run/postgresql', user: 'ada', database: 'tuning', tls: null },
    ],
    ['postgres://ada@%2Frun%2Fpostgresql/tuning', { host: '/run/postgresql', user: 'ada', tls: null }],
    ['postgres://ada@db.example/', { database: 'ada', tls: { verified: true, authorities: undefined } }],
    ['postgres://ada@db.example/t?sslmode=require', { tls: { verified: false, authorities: undefined } }],
    ['postgres://ada@db.example/t?sslmode=disable', { tls: null }],
  ])('%s is read', (url, expected) => {
    expect(readAddress(url)).toMatchObject(expected);
  });

  test.each([
    ['postgres://ada:secret@db/t?sslmode=prefer', 'use disable, require or verify-full'],
    ['postgres://ada:secret@db/t?connect_timeout=3', 'unknown parameter "connect_timeout"'],
    ['postgres://ada:secret@db/t?sslrootcert=/nowhere', 'cannot be read'],
    ['postgres://ada:secret%@db/t', 'write % as %25'],
    ['postgres://ada:secret@db/t?port=x', 'x is not a port'],
  ])('%s is refused without its password', (url, why) => {
    let message = '';
    try {
      readAddress(url);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(why);
    expect(message).not.toContain('secret');
  });
});

test.each([
  ['db:5432:t:ada:one', 'one'],
  ['db:1:t:ada:no\n*:*:*:*:any', 'any'],
  ['db:*:t:ada:a\\:b\\\\c', 'a:b\\c'],
  ['d\\b:*:t:ada:spelt', 'spelt'],
  ['# db:*:*:*:no\n\nshort:line', null],
  ['db:*:t:bob:no', null],
])('a line of a password file: %s', (text, password) => {
  expect(findPassword(text, { host: 'db', port: 5432, database: 't', user: 'ada' })).toBe(password);
});
