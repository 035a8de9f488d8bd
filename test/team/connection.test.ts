// @module-tag slow
// Servers that are gone, silent, slow, closed or no PostgreSQL: every call ends in time, with a reason and without a password.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { readAddress } from '../../src/team/address.ts';
import { openConnection } from '../../src/team/connection.ts';
import { migrateTeam } from '../../src/team/migrate.ts';
import { findPassword } from '../../src/team/password-file.ts';
import { openTeam } from '../../src/team/postgres.ts';
import { PROTOCOL, type Failure } from '../../src/team/team.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { startServer, testDatabase, whyNoPostgres, type OwnServer } from '../support/postgres.ts';
import {
  claimOf,
  client,
  clientAs,
  given,
  LONG,
  partsOf,
  QUESTION,
  refusal,
  SUBJECT,
  teamDatabase,
} from './support.ts';

const SECRET = 'p4ss w/rd';

/** The last schema whose functions accept one protocol only. */
const BEFORE = 8;

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

/** The failure of a question. Checks that it does not contain the password. */
async function failureOf(url: string, limitMs = LONG): Promise<Failure> {
  const failure = await refusal(client(url).ask(QUESTION, limitMs));
  expect(failure.reason).not.toContain(SECRET);
  expect(failure.reason).not.toContain(encodeURIComponent(SECRET));
  expect(failure.reason).toContain('127.0.0.1');
  return failure;
}

/** A result, and the milliseconds that the action took. */
async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
  const begun = performance.now();
  return [await action(), performance.now() - begun];
}

test('a server that refuses the connection is unreachable', async () => {
  const port = await serverThat(() => undefined);
  const closed = await serverThat(() => undefined);
  expect(closed).not.toBe(port);
  expect(await failureOf(urlOf(1))).toMatchObject({
    kind: 'unreachable',
    reason: expect.stringContaining('ECONNREFUSED') as string,
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
  const [failure, took] = await timed(() => failureOf(urlOf(port), 200));
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
  expect((await failureOf(urlOf(port))).kind).toBe('unreachable');
});

test('an unknown host name is unreachable', async () => {
  const { kind, reason } = await refusal(
    client(`postgres://ada:${SECRET.replace('/', '%2F')}@no.such.host.invalid/x?sslmode=disable`).ask(
      QUESTION,
      3000,
    ),
  );
  expect(kind).toBe('unreachable');
  expect(reason).not.toContain(SECRET);
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
  const { reason } = await failureOf(urlOf(port));
  expect(reason).toMatch(/\*\*\* +boo/);
  // eslint-disable-next-line no-control-regex -- control characters must be absent
  expect(reason).not.toMatch(/[\0-\x1f]/);
});

describe.skipIf(isWithout(whyNoPostgres))('a PostgreSQL server', () => {
  /** A server for tests that restart it or install a certificate. */
  let own: Promise<OwnServer> | undefined;
  const ownServer = () => (own ??= startServer());
  afterAll(async () => {
    await (await own)?.stop();
  });

  test('with another password denies access, and the message lacks the password', async () => {
    const database = await teamDatabase();
    const url = new URL(await database.login('reader', { in: 'iree_tuned_reader' }));
    url.password = encodeURIComponent(SECRET);
    expect(await failureOf(url.href)).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('correct the setting "team"') as string,
    });
    url.password = '';
    expect((await failureOf(url.href)).kind).toBe('denied');
    url.username = 'nobody';
    expect((await failureOf(url.href)).kind).toBe('denied');
  });

  test('without TLS gets no password when the URL requires TLS', async () => {
    const database = await teamDatabase();
    const url = await database.login('reader', { in: 'iree_tuned_reader' });
    expect((await failureOf(`${url}?sslmode=verify-full`)).kind).toBe('denied');
    expect((await failureOf(`${url}?sslmode=require`)).kind).toBe('denied');
  });

  test('without the tables is an error that names the way out', async () => {
    const database = await testDatabase();
    const failure = await refusal(client(await database.login('reader')).ask(QUESTION, LONG));
    expect(failure).toMatchObject({
      kind: 'incompatible',
      reason: expect.stringContaining('iree-tuned team migrate') as string,
    });
  });

  test.each([PROTOCOL - 1, PROTOCOL + 1])('of protocol %i accepts reads and writes', async (protocol) => {
    const database = await teamDatabase();
    const worker = await clientAs(database, 'worker');
    await database.query('UPDATE iree_tuned.meta SET protocol = $1', [protocol]);
    expect((await given(worker.push([...partsOf(), claimOf()], LONG))).changed.claims).toBe(1);
    expect((await given(worker.ask(QUESTION, LONG))).lines).toContainEqual(claimOf());
    expect((await given(worker.pull(QUESTION, null, LONG))).lines).toContainEqual(claimOf());
    expect((await given(worker.want([], [SUBJECT], LONG))).wanted).toBe(1);
    expect((await given(worker.demands(QUESTION, LONG))).demands).toHaveLength(1);
    await given(worker.status(LONG));
  });

  test('of an older schema accepts reads and writes, and its clients survive a migration', async () => {
    const database = await testDatabase();
    const owner = openConnection(readAddress(database.url), '');
    onTestFinished(() => {
      owner.close();
    });
    await migrateTeam(owner, { version: BEFORE, directory: join(root, 'db', 'team') });
    const worker = await clientAs(database, 'worker');
    expect((await given(worker.push([...partsOf(), claimOf()], LONG))).changed.claims).toBe(1);
    const page = await given(worker.pull(QUESTION, null, LONG));
    await migrateTeam(owner);
    // Simulates the next version, with a higher protocol.
    await database.query('UPDATE iree_tuned.meta SET protocol = protocol + 1');
    const asked = await given(worker.ask(QUESTION, LONG));
    expect(asked).toMatchObject({ lines: expect.arrayContaining([claimOf()]) as unknown, ignored: 0 });
    expect(await given(worker.pull(QUESTION, page.cursor, LONG))).toMatchObject({ restarted: false });
  });

  test.each([
    [PROTOCOL - 2, 'iree-tuned team migrate'],
    [PROTOCOL + 2, 'update iree-compile-tuned here'],
  ])('of protocol %i is an error that names the way out', async (protocol, way) => {
    const database = await teamDatabase();
    const reader = await clientAs(database, 'worker');
    await database.query('UPDATE iree_tuned.meta SET protocol = $1', [protocol]);
    for (const answer of [
      () => reader.ask(QUESTION, LONG),
      () => reader.pull(QUESTION, null, LONG),
      () => reader.push([claimOf()], LONG),
      () => reader.want([], [], LONG),
      () => reader.trials(SUBJECT, LONG),
      () => reader.status(LONG),
    ])
      expect(await refusal(answer())).toMatchObject({
        kind: 'incompatible',
        reason: expect.stringContaining(way) as string,
      });
  });

  test('that is slow times out, and the next call succeeds', async () => {
    const database = await teamDatabase();
    const reader = await clientAs(database, 'reader');
    await given(reader.ask(QUESTION, LONG));
    // As a migration does.
    const other = new pg.Client({
      host: new URL(database.url).searchParams.get('host')!,
      port: database.port,
      user: 'postgres',
      database: database.name,
    });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE iree_tuned.meta IN ACCESS EXCLUSIVE MODE');
    const [failure, took] = await timed(() => refusal(reader.ask(QUESTION, 200)));
    expect(failure.kind).toBe('unreachable');
    expect(took).toBeLessThan(5000);
    await other.end();
    expect(await given(reader.ask(QUESTION, LONG))).toEqual({ lines: [], later: [], ignored: 0 });
  });

  test('with a full disk is unreachable', async () => {
    const database = await teamDatabase();
    const writer = await clientAs(database, 'writer');
    await database.query(`
      CREATE FUNCTION iree_tuned.no_space() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE disk_full USING MESSAGE = ''could not extend file: No space left on device''; END';
      CREATE TRIGGER no_space BEFORE INSERT ON iree_tuned.claim EXECUTE FUNCTION iree_tuned.no_space()`);
    const failure = await refusal(writer.push([...partsOf(), claimOf()], LONG));
    expect(failure).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('No space left') as string,
    });
    await database.query('DROP TRIGGER no_space ON iree_tuned.claim');
    expect((await given(writer.push([...partsOf(), claimOf()], LONG))).changed.claims).toBe(1);
  });

  test('that restarts during a question is unreachable, and the next call succeeds', async () => {
    const server = await ownServer();
    const database = await server.database();
    await database.query(`
      CREATE SCHEMA iree_tuned;
      CREATE FUNCTION iree_tuned.ask(jsonb) RETURNS jsonb LANGUAGE sql AS $$
        SELECT pg_sleep(60); SELECT '{"protocol": 1, "lines": []}'::jsonb $$`);
    const team = openTeam(database.url, {});
    const asking = refusal(team.ask(QUESTION, LONG));
    while (
      (
        await database.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' OR query LIKE '%iree_tuned.ask%' AND pid <> pg_backend_pid()`,
        )
      ).length === 0
    );
    await server.stop();
    expect((await asking).kind).toBe('unreachable');
    expect((await refusal(team.status(LONG))).kind).toBe('unreachable');
    await server.start();
    await database.query(`CREATE OR REPLACE FUNCTION iree_tuned.ask(jsonb) RETURNS jsonb LANGUAGE sql AS $$
      SELECT '{"protocol": 1, "lines": []}'::jsonb $$`);
    expect(await given(team.ask(QUESTION, LONG))).toEqual({ lines: [], later: [], ignored: 0 });
    team.close();
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
    expect(await failureOf(`${url}?sslmode=verify-full`)).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('self-signed') as string,
    });
    const trusted = `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`;
    // Access is granted, and only the tables are missing.
    expect((await failureOf(trusted)).kind).toBe('incompatible');
    expect((await failureOf(`${url}?sslmode=require`)).kind).toBe('incompatible');
  });

  test('runs one query after the other, and rolls a failed transaction back before the next', async () => {
    const database = await (await ownServer()).database();
    const connection = openConnection(readAddress(database.url), '');
    onTestFinished(() => {
      connection.close();
    });
    const failed = connection.query('BEGIN; SELECT 1 / 0; COMMIT', [], LONG);
    const next = connection.query('SELECT 2 AS two', [], LONG);
    await expect(failed).rejects.toThrow('division by zero');
    expect(await next).toEqual([{ two: 2 }]);
  });

  test('without the roles can be migrated, and the same login can ask it', async () => {
    const database = await (await ownServer()).database();
    expect(await database.query(`SELECT FROM pg_roles WHERE rolname LIKE 'iree_tuned%'`)).toEqual([]);
    const connection = openConnection(readAddress(database.url), '');
    await migrateTeam(connection);
    connection.close();
    expect(await given(client(database.url).ask(QUESTION, LONG))).toEqual({
      lines: [],
      later: [],
      ignored: 0,
    });
  });

  test('accepts a password from a file or the environment', async () => {
    const database = await teamDatabase();
    const url = new URL(await database.login('reader', { in: 'iree_tuned_reader' }));
    const password = decodeURIComponent(url.password);
    url.password = '';
    const file = join(temporaryDirectory(), 'pgpass');
    writeFileSync(
      file,
      `# passwords\nanother:*:*:*:wrong\n127.0.0.1:${database.port}:*:${url.username}:${password}\n`,
    );
    chmodSync(file, 0o600);
    for (const env of [{ PGPASSFILE: file }, { PGPASSWORD: password }]) {
      const team = openTeam(url.href, env);
      await given(team.ask(QUESTION, LONG));
      team.close();
    }
    chmodSync(file, 0o644);
    const careless = openTeam(url.href, { PGPASSFILE: file });
    expect((await refusal(careless.ask(QUESTION, LONG))).kind).toBe('denied');
    careless.close();
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
