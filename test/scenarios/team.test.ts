// Builds that share a team's server: the record of one machine is a hit on another, and a hit asks no server. A missing, silent or refusing
// server costs a build a moment only.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres } from '../support/postgres.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { teamDatabase } from '../team/support.ts';
import { argv, expectStock } from './faults/support.ts';
import { HOST, oddMatmul, rowsOf, Workplace } from './support.ts';

/** Longer than each of these tests, and shorter than a hang. */
const HANGS = { timeout: 120_000 };

/** The default is 300 ms. A server on a busy machine needs longer, and the log would have only the time-out. */
const PATIENT = { IREE_TUNED_TEAM_TIMEOUT: '60000' };

/** A checkout with a separate machine, so that it has no records of its own. */
function newcomer(team: string, env: Readonly<Record<string, string>> = {}) {
  const place = new Workplace({ ...PATIENT, IREE_TUNED_TEAM: team, IREE_TUNED_BUDGET: '300', ...env });
  place.write('in.mlir', oddMatmul);
  const { compiler, ran } = place.watchedTools(rememberingCompiler);
  const build = async (more: Readonly<Record<string, string>> = {}) => {
    const result = await place.explain(argv, { env: { IREE_TUNED_COMPILER: compiler, ...more } });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    return { ...result, operation: result.explanation.operations[0]! };
  };
  /** Measurements since the last call. */
  const measured = () => ran().filter((line) => !line.startsWith('iree-compile '));
  return { place, compiler, build, measured };
}

const tuned = (place: Workplace, ...words: string[]) => place.asked<unknown>([...words, '--json']);

/** A server with pushed records. */
async function tunedTeam() {
  const database = await teamDatabase();
  const ada = Workplace.simulated({
    ...PATIENT,
    IREE_TUNED_TEAM: await database.login('ada', { in: 'iree_tuned_writer' }),
  });
  ada.write('in.mlir', oddMatmul);
  const build = await ada.explain(argv);
  expect(build).toMatchObject({ code: 0, explanation: { operations: [{ outcome: 'tuned' }] } });
  return { database, ada, built: build.explanation.operations[0]! };
}

/** Created once, for all tests that only read it. */
let shared: ReturnType<typeof tunedTeam> | undefined;
const team = () => (shared ??= tunedTeam());

let readers = 0;
/** A login with the role of a reader. */
const readerOf = async ({ database }: Awaited<ReturnType<typeof tunedTeam>>) =>
  database.login(`reader_${readers++}`, { in: 'iree_tuned_reader' });

/** Closed with all its connections after the test. */
async function listening(server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function withPort(url: string, port: number): string {
  const there = new URL(url);
  there.port = String(port);
  return there.href;
}

/** The same server at another port, where all connections are counted, failed ones included. */
async function counted(url: string) {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    const there = connect(Number(new URL(url).port), '127.0.0.1');
    there.on('error', () => socket.destroy());
    socket.pipe(there).pipe(socket);
  });
  return { url: withPort(url, await listening(server)), connections: () => connections };
}

describe.skipIf(isWithout(whyNoPostgres))('two checkouts and one server', HANGS, () => {
  test('a record of one checkout is a hit in the first build of the other', async () => {
    const { built } = await team();
    const { place, build, measured } = newcomer(await readerOf(await team()), { IREE_TUNED_BUDGET: '0' });
    const { operation, explanation } = await build();
    expect(operation).toMatchObject({ outcome: 'hit', configuration: built.configuration });
    expect(explanation.seconds.tuning).toBe(0);
    expect(measured()).toEqual([]);
    expect(rowsOf(place, 'trial')).toBe(0);
    expect(await tuned(place, 'stats')).toMatchObject({ team: { asked: { answered: 1 }, found: 1 } });
  });

  test('a build that may tune has no search to do', async () => {
    // The records are simulated, and so are the runs of the program.
    const place = Workplace.simulated({ ...PATIENT, IREE_TUNED_TEAM: await readerOf(await team()) });
    place.write('in.mlir', oddMatmul);
    expect(await place.explain(argv)).toMatchObject({ explanation: { operations: [{ outcome: 'hit' }] } });
    expect(rowsOf(place, 'trial')).toBe(0);
  });

  test('a mark of one checkout reaches the other by sync', { tags: 'full' }, async () => {
    const { database, ada } = await tunedTeam();
    const { place, build } = newcomer(await database.login('bob', { in: 'iree_tuned_reader' }), {
      IREE_TUNED_BUDGET: '0',
    });
    expect((await build()).operation).toMatchObject({ outcome: 'hit' });
    const written = { createdAt: new Date().toISOString(), createdBy: 'ada' };
    ada.inStore((store) => {
      const record = store.allRecords()[0]!;
      const { configuration } = record;
      const mark = { configuration, kind: 'wrong-result', reason: 'it was seen' } as const;
      store.addMarks(store.subject(record)!, [{ ...mark, ...written }]);
    });
    expect(await tuned(ada, 'team', 'sync')).toMatchObject({ pushed: { changed: { marks: 1 } } });
    // Until then the record here is as good as ever.
    expect((await build()).operation).toMatchObject({ outcome: 'hit' });
    // What has come from there is not told again, which a reader could not.
    expect(await tuned(place, 'team', 'sync')).toMatchObject({
      pulled: [{ ignored: 0 }],
      pushed: { sent: 0 },
    });
    expect(rowsOf(place, 'mark')).toBe(1);
    expect((await build()).operation).not.toMatchObject({ outcome: 'hit' });
  });

  test('a build for a device of the team uses the records of that device, and tunes nothing', async () => {
    const { place, build, measured } = newcomer(await readerOf(await team()), {
      IREE_TUNED_DEVICE: 'local-task',
    });
    await tuned(place, 'team', 'sync');
    expect(await tuned(place, 'device', 'name', 'prod', 'local-sync')).toMatchObject([
      { name: 'prod', here: false, records: 1 },
    ]);
    const { operation } = await build({ IREE_TUNED_FOR_DEVICE: 'prod' });
    expect(operation).toMatchObject({ outcome: 'hit' });
    expect(measured()).toEqual([]);
    expect(rowsOf(place, 'trial')).toBe(0);
    // Without the setting the build is for this machine, which has no records.
    expect((await build({ IREE_TUNED_BUDGET: '0' })).operation).toMatchObject({ outcome: 'default' });
  });

  test('sync pulls records for a target of flags alone', { tags: 'full' }, async () => {
    const { place } = newcomer(await readerOf(await team()));
    const other = HOST.map((flag) => flag.replace('target-cpu=host', 'target-cpu=haswell'));
    const { code, stdout, stderr } = await place.tuned(['team', 'sync', '--json', '--', ...other]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { pulled } = JSON.parse(stdout.toString()) as { pulled: { target: string; added: number }[] };
    expect(pulled.map(({ target }) => target.includes('haswell'))).toEqual([false, true]);
    expect(pulled.map(({ added }) => added > 0)).toEqual([true, false]);
    const wrong = await place.tuned(['team', 'sync', '--', '--iree-hal-target-device=nowhere']);
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('--iree-hal-target-device=nowhere');
  });

  test('a hundred hits open no connection', { tags: 'full' }, async () => {
    const { url, connections } = await counted(await readerOf(await team()));
    const { place, compiler, build } = newcomer(url, { IREE_TUNED_BUDGET: '0' });
    expect((await build()).operation).toMatchObject({ outcome: 'hit' });
    const first = connections();
    expect(first).toBe(1);
    const env = { IREE_TUNED_COMPILER: compiler };
    const plain = () => place.compile(argv, { env });
    expect(await plain()).toMatchObject({ code: 0, stderr: '' });
    // The first hits are lookups, the others are replays.
    for (let i = 0; i < 4; i++) expect((await build()).operation).toMatchObject({ outcome: 'hit' });
    for (let i = 0; i < 32; i++)
      for (const result of await Promise.all([plain(), plain(), plain()]))
        expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(connections()).toBe(first);
  });
});

const PASSWORD = 'k0nfidential: %2F & all';
const SPELLINGS = [PASSWORD, encodeURIComponent(PASSWORD), encodeURI(PASSWORD), 'k0nfidential'];

/** All files below a folder. */
const filesOf = (folder: string): [string, string][] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => [path, readFileSync(path, 'latin1')]);

/** Expects a build as without a server. The log alone has the reason, without the password. */
async function expectNoHarm(url: string, why: RegExp, words: RegExp): Promise<Workplace> {
  const env = { ...PATIENT, IREE_TUNED_TEAM: url, IREE_TUNED_ON_MISS: 'default', IREE_TUNED_LOG: 'log.txt' };
  const place = new Workplace(env);
  place.write('in.mlir', oddMatmul);
  const result = await place.explain(argv);
  await expectStock(place, result);
  expect(result.explanation.operations).toMatchObject([{ outcome: 'default' }]);
  expect(place.read('log.txt').toString()).toMatch(why);
  // The second build knows that the server does not answer.
  await expectStock(place, await place.compile(argv));
  const said = [];
  for (const command of [['config'], ['config', '--json'], ['team', 'status', '--json'], ['stats']]) {
    const { stdout, stderr } = await place.tuned(command);
    said.push(stdout.toString(), stderr);
  }
  expect(said.join('')).toMatch(words);
  for (const spelling of SPELLINGS) {
    for (const text of [...said, result.stderr, JSON.stringify(result.explanation)])
      expect(text).not.toContain(spelling);
    for (const [path, text] of filesOf(place.folder))
      expect([path, text.includes(spelling)]).toEqual([path, false]);
  }
  return place;
}

describe('a build whose team does not answer is the stock build', HANGS, () => {
  const nobody = (port: number) => `postgres://ada:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/tuning`;

  test('without a process at the port', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expectNoHarm(nobody(port), /cannot be reached: .*ECONNREFUSED/, /ada:\*\*\*@127|ada@127/);
  });

  test('with a silent process at the port', async () => {
    let connections = 0;
    const port = await listening(createServer(() => connections++));
    const env = { IREE_TUNED_TEAM: nobody(port), IREE_TUNED_ON_MISS: 'default', IREE_TUNED_LOG: 'log.txt' };
    const place = new Workplace(env);
    place.write('in.mlir', oddMatmul);
    await expectStock(place, await place.compile(argv));
    expect(place.read('log.txt').toString()).toMatch(/cannot be reached: no answer within \d+ ms/);
    // The server is not asked again for a minute.
    await expectStock(place, await place.explain(argv));
    expect(connections).toBe(1);
    for (const [path, text] of filesOf(place.folder))
      for (const spelling of SPELLINGS) expect([path, text.includes(spelling)]).toEqual([path, false]);
  });

  test.skipIf(isWithout(whyNoPostgres))('with a wrong password', async () => {
    const url = new URL(await (await teamDatabase()).login('eve', { in: 'iree_tuned_reader' }));
    url.password = encodeURIComponent(PASSWORD);
    await expectNoHarm(url.href, /denies access/, /password authentication failed/);
  });
});
