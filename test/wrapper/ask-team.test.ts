// @module-tag slow
// Builds with misses, and a team's server with records. No build tunes here.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countsIn } from '../../src/report/counting.ts';
import type { Settings } from '../../src/settings/index.ts';
import type { ClaimLine, Line } from '../../src/store/exchange/lines.ts';
import type { Subject } from '../../src/store/store.ts';
import { placeOf, subjectOf } from '../../src/store/subject.ts';
import { openTeam } from '../../src/team/postgres.ts';
import { KeptModules } from '../../src/plan/kept-modules.ts';
import { OpenProgram } from '../../src/wrapper/open-program.ts';
import { Build } from '../../src/wrapper/build.ts';
import { tellTeam } from '../../src/wrapper/ask-team.ts';
import { commandOf, inputOf, keyOfMatmul, matmulText, siteOf, surroundingsOf } from '../support/inspected.ts';
import { isWithout } from '../support/needs.ts';
import { whyNoPostgres, type TestDatabase } from '../support/postgres.ts';
import { matmul } from '../support/workloads.ts';
import { DECISION, open, temporaryPath } from '../store/support.ts';
import { claimOf, clientAs, given, LONG, markOf, partsOf, teamDatabase } from '../team/support.ts';

const site = siteOf();
const aboutMatmul = (m: number): Subject =>
  subjectOf({ key: keyOfMatmul(m, 512, 512), workload: matmul(m, 512, 512) }, site);

/** A machine with tuning disabled. */
function machine(team: string | undefined, change: Partial<Settings> = {}) {
  const database = temporaryPath();
  const surroundings = surroundingsOf({
    database,
    onMiss: 'default',
    teamTimeoutMs: LONG,
    ...(team !== undefined && { team }),
    ...change,
  });
  const store = open(database);
  return {
    store,
    surroundings,
    build: async (...sizes: number[]) => {
      const inspected = {
        site,
        input: inputOf(sizes.map((m) => matmulText(m, 512, 512)).join('')),
      };
      const program = { command: commandOf('in.mlir'), inspected };
      const means = { store, problem: null, surroundings, kept: new KeptModules() };
      const open = await OpenProgram.in(program, means);
      const build = new Build(open, means);
      await build.lookUp();
      await build.tune();
      const { decisions, isFinal } = build.tuned;
      return { got: decisions.map(({ outcome }) => outcome), until: build.until, isFinal };
    },
    counts: () => countsIn(surroundings.cacheDirectory),
  };
}

async function teamThatKnows(...lines: readonly Line[]): Promise<{ url: string; database: TestDatabase }> {
  const database = await teamDatabase();
  if (lines.length > 0) await given((await clientAs(database, 'writer', 'others')).push(lines, LONG));
  return { database, url: await database.login('builder', { in: 'iree_tuned_writer' }) };
}

const known = (m: number, change: Parameters<typeof claimOf>[0] = {}) => {
  const subject = aboutMatmul(m);
  const plain = JSON.parse(JSON.stringify(subject)) as Subject;
  return [...partsOf(plain), claimOf({ subject, ...change })];
};

describe.skipIf(isWithout(whyNoPostgres))('a build with a team', () => {
  test('copies records of the team into the local database', async () => {
    const { url, database } = await teamThatKnows(...known(8), ...known(16));
    const { build, counts } = machine(url);
    expect(await build(8, 16)).toEqual({ got: ['hit', 'hit'], until: null, isFinal: true });
    expect(counts()).toEqual({ 'team: answered': 1, 'team records': 2 });
    // The second build needs no server.
    await database.query('DROP SCHEMA iree_tuned CASCADE');
    expect(await build(8, 16)).toEqual({ got: ['hit', 'hit'], until: null, isFinal: true });
    expect(counts()).toEqual({ 'team: answered': 1, 'team records': 2 });
  });

  test('puts a miss on the wanted list, and does not ask again for ten minutes', async () => {
    const { url, database } = await teamThatKnows(...known(8));
    const { build, counts } = machine(url);
    const before = Date.now();
    const { got, until, isFinal } = await build(8, 24);
    expect({ got, isFinal }).toEqual({ got: ['hit', 'default'], isFinal: true });
    expect(until! - before).toBeGreaterThan(599_000);
    const wanted = () =>
      database.query(`SELECT w.key, d.builds::int FROM iree_tuned.demand AS d
        JOIN iree_tuned.subject AS s ON s.id = d.subject JOIN iree_tuned.workload AS w ON w.id = s.workload`);
    expect(await wanted()).toEqual([{ key: keyOfMatmul(24, 512, 512), builds: 1 }]);
    await build(24);
    expect(await wanted()).toEqual([{ key: keyOfMatmul(24, 512, 512), builds: 1 }]);
    expect(counts()).toMatchObject({ 'team: answered': 1, 'team: known': 1 });
  });

  test('gets no record of another device, and does not ask again at once', async () => {
    const subject = { ...aboutMatmul(8), device: 'another device', deviceForm: { model: 'another' } };
    const { url } = await teamThatKnows(
      ...partsOf(JSON.parse(JSON.stringify(subject)) as Subject),
      claimOf({ subject }),
    );
    const { build, counts } = machine(url);
    expect((await build(8)).got).toEqual(['default']);
    expect((await build(8)).got).toEqual(['default']);
    expect(counts()).toMatchObject({ 'team: answered': 1, 'team: known': 1 });
  });

  test('uses no configuration that the team has marked', async () => {
    const subject = aboutMatmul(8);
    const { url } = await teamThatKnows(
      ...known(8),
      markOf({ ...placeOf(site), workload: subject.workload }),
    );
    expect((await machine(url).build(8)).got).toEqual(['default']);
  });

  test('ignores lines that it has not asked for, and changed lines', async () => {
    const [good] = [known(8)];
    const forged = { ...(known(16).at(-1) as ClaimLine), digest: 'f'.repeat(64) };
    const { url, database } = await teamThatKnows(...good, ...known(16).slice(0, 4), forged);
    // The server sends all its lines to every question.
    await database.query(`
      ALTER FUNCTION iree_tuned.ask(jsonb) RENAME TO ask_honestly;
      CREATE FUNCTION iree_tuned.ask(request jsonb) RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS $$
        SELECT iree_tuned.ask_honestly(request || jsonb_build_object('workloads', (SELECT jsonb_agg(key) FROM iree_tuned.workload))) $$`);
    const { build, store, counts } = machine(url);
    expect((await build(16, 32)).got).toEqual(['default', 'default']);
    expect(store.allRecords()).toEqual([]);
    expect(counts()).toMatchObject({ 'team lines ignored': 1 });
  });

  test('gives up on a silent server, and logs the reason without the password', async () => {
    const sockets: { destroy(): void }[] = [];
    const server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const log = temporaryPath();
    const { build, counts, surroundings } = machine(`postgres://ada:s3cret@127.0.0.1:${port}/x`, {
      teamTimeoutMs: 500,
      log,
    });
    const begun = performance.now();
    expect((await build(8)).got).toEqual(['default']);
    expect((await build(16)).got).toEqual(['default']);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(sockets).toHaveLength(1);
    expect(counts()).toEqual({ 'team: unreachable': 2 });
    expect(readFileSync(log, 'utf8')).toMatch(/cannot be reached/);
    expect(readFileSync(log, 'utf8')).not.toContain('s3cret');
    for (const name of readdirSync(surroundings.cacheDirectory, { recursive: true, encoding: 'utf8' })) {
      const path = `${surroundings.cacheDirectory}/${name}`;
      if (statSync(path).isFile()) expect(readFileSync(path, 'latin1')).not.toContain('s3cret');
    }
  });

  test.each([
    ['an option that is not understood', 'postgres://ada:s3cret@127.0.0.1:1/x?sslmode=maybe'],
    ['nobody at that port', 'postgres://ada:s3cret@127.0.0.1:1/x'],
  ])('goes on with %s', async (_, url) => {
    const log = temporaryPath();
    const { build, counts } = machine(url, { log });
    expect((await build(8)).got).toEqual(['default']);
    expect(counts()).toEqual({ 'team: unreachable': 1 });
    expect(readFileSync(log, 'utf8')).not.toContain('s3cret');
  });

  test('does not ask with a read-only database, or without misses', async () => {
    const url = 'postgres://ada@127.0.0.1:1/x';
    const readonly = machine(url, { readonly: true });
    expect((await readonly.build(8)).got).toEqual(['default']);
    const { store, build, counts } = machine(url);
    store.putRecord(aboutMatmul(8), DECISION);
    expect(await build(8)).toEqual({ got: ['hit'], until: null, isFinal: true });
    expect({ ...counts(), ...readonly.counts() }).toEqual({});
  });

  test('pushes its tuning results to the team', async () => {
    const { url } = await teamThatKnows();
    const { store, surroundings } = machine(url);
    store.putRecord(aboutMatmul(8), DECISION);
    await tellTeam(url, surroundings);
    const other = machine(url);
    expect((await other.build(8)).got).toEqual(['hit']);
    // A second push adds nothing. A push to a missing server fails no build.
    await tellTeam(url, surroundings);
    await tellTeam('postgres://ada@127.0.0.1:1/x', surroundings);
    const team = openTeam(url, {});
    const answer = await given(team.status(LONG));
    expect(answer.counts).toMatchObject({ claims: 1, origins: 1 });
    team.close();
  });

  test('reads records with a role that may not write', async () => {
    const database = await teamDatabase();
    const url = await database.login('reader', { in: 'iree_tuned_reader' });
    await given((await clientAs(database, 'writer', 'others')).push(known(16), LONG));
    const { store, surroundings, build } = machine(url);
    store.putRecord(aboutMatmul(8), DECISION);
    await tellTeam(url, surroundings);
    expect((await build(8, 16, 24)).got).toEqual(['hit', 'hit', 'default']);
  });
});
