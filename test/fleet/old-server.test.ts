// @module-tag slow
// All lines of a team's PostgreSQL server go through a file into a database. old-server.sql makes such a server.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { importFile } from '../../src/store/exchange/files.ts';
import type { Line, PartLine } from '../../src/store/exchange/lines.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { keysOf } from '../../src/store/subject.ts';
import type { Subject } from '../../src/store/store.ts';
import { storedForm } from '../../src/workload/workload.ts';
import { newPlace } from '../cli/commands.ts';
import {
  claimLineOf,
  markLineOf,
  partLinesOf,
  receiveLines,
  revocationLineOf,
  trialLineOf,
} from '../store/exchange/samples.ts';
import { DECISION, SUBJECT, subjectOf } from '../store/samples.ts';
import { openExchange, temporaryFolder } from '../store/support.ts';
import { isWithout } from '../support/needs.ts';
import { testDatabase, testServer, whyNoPostgres, type TestDatabase } from '../support/postgres.ts';

const SCHEMA = readFileSync(join(import.meta.dirname, 'old-server.sql'), 'utf8');

const oldServer = async (): Promise<TestDatabase> => {
  const database = await testDatabase();
  await database.query(SCHEMA);
  return database;
};

const OTHER = subjectOf(7, { target: 'vulkan', compiler: 'iree 3.13.0', device: 'a gpu' });
/** More subjects than lines of a page. */
const MANY = Array.from({ length: 1100 }, (_, i) => subjectOf(1000 + i));
/** It has a trial only. */
const UNCLAIMED = subjectOf(9);
const PLAIN = { version: 1, kind: 'data-tile' } as const;

const partsOf = (subject: Subject): PartLine[] =>
  partLinesOf(subject).map((line) =>
    line.type === 'workload' ? { ...line, form: storedForm(subject.workloadForm) } : line,
  );

/** Lines of two targets. */
const LINES: readonly Line[] = [
  ...[SUBJECT, OTHER, ...MANY, UNCLAIMED].flatMap(partsOf),
  ...[SUBJECT, ...MANY].map(({ workload }) => claimLineOf({ workload })),
  claimLineOf({ configuration: DEFAULT_CONFIGURATION, evidence: { ratio: 1, low: 1, high: 1 } }),
  claimLineOf(keysOf(OTHER)),
  { ...markLineOf({ configuration: PLAIN }), ...keysOf(OTHER) },
  markLineOf({ kind: 'slower' }),
  revocationLineOf({ scope: 'record', value: 'f'.repeat(64) }),
  trialLineOf({ id: '1'.repeat(32), runs: [] }),
  trialLineOf({ id: '2'.repeat(32), runs: [], ...keysOf(UNCLAIMED) }),
];

/** A server with all lines. */
const filledServer = async (): Promise<TestDatabase> =>
  (await testServer()).copyOf('filled_old_server', async () => {
    const database = await oldServer();
    // The server has forms as texts.
    const lines = LINES.map((line) => ('form' in line ? { ...line, form: JSON.stringify(line.form) } : line));
    await database.query('SELECT iree_tuned.fill($1)', [JSON.stringify(lines)]);
    return database;
  });

/** The lines of the file, once imported into an empty database. */
async function imported(file: string): Promise<string[]> {
  const exchange = openExchange();
  expect(await importFile(file, exchange, temporaryFolder())).toMatchObject({ refused: 0, kept: 0 });
  return [...exchange.lines({}, () => undefined)];
}

/** The lines of an empty database that received lines. */
function merged(lines: readonly Line[]): string[] {
  const exchange = openExchange();
  expect(receiveLines(exchange, lines).refused).toEqual([]);
  return [...exchange.lines({}, () => undefined)];
}

/** Makes a database with records. */
function record(path: string, ...subjects: readonly Subject[]): void {
  const store = openSqliteStore(path);
  for (const subject of subjects) store.putRecord(subject, DECISION);
  store.close();
}

describe.skipIf(isWithout(whyNoPostgres))("the export of a team's server", () => {
  test('has all lines for a login that owns the tables', { tags: 'full' }, async () => {
    const database = await filledServer();
    const { at, run } = newPlace();
    const url = await database.login('root', { in: 'iree_tuned_administrator' });
    const ended = await run('team', 'export', url, at('server.jsonl'), '--json');
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(ended.out)).toMatchObject({
      lines: { claim: 1103, mark: 2, trial: 2, revocation: 1 },
      hasAllPlaces: true,
      refused: 0,
    });
    expect(ended.out).not.toContain('secret');
    expect(await imported(at('server.jsonl'))).toEqual(merged(LINES));
    const published = await run('team', 'publish', at('base'), at('server.jsonl'), '--json');
    expect(JSON.parse(published.out)).toMatchObject({ imported: [{ refused: 0 }], isNew: true });
    const piped = await run('team', 'export', url, '-');
    expect(piped.out).toBe(readFileSync(at('server.jsonl'), 'utf8'));
  });

  test('has the lines of the targets that the database of a reader names', { tags: 'full' }, async () => {
    const database = await filledServer();
    const { at, run } = newPlace();
    const url = await database.login('eve', { in: 'iree_tuned_reader' });
    const refused = await run('team', 'export', url, at('server.jsonl'));
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('iree_tuned_administrator');
    expect(existsSync(at('server.jsonl'))).toBe(false);

    record(at('tuning.db'), SUBJECT, OTHER);
    const ended = await run('team', 'export', url, at('server.jsonl'));
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.out).toContain('1,103 claims, 2 marks, 0 trials, 1 revocation');
    expect(ended.err).toMatch(/without trials.*2 pairs of target and compiler/);
    const { workload } = UNCLAIMED;
    const served = LINES.filter((line) => line.type !== 'trial' && !('key' in line && line.key === workload));
    expect(await imported(at('server.jsonl'))).toEqual(merged(served));
  });

  test('has the trials of subjects with claims for a worker', async () => {
    const database = await filledServer();
    const { at, run } = newPlace();
    record(at('tuning.db'), SUBJECT);
    const url = await database.login('bob', { in: 'iree_tuned_worker' });
    const ended = await run('team', 'export', url, at('server.jsonl'));
    expect(ended.out).toContain('1 mark, 1 trial, 1 revocation');
  });

  test('leaves out invalid lines, and says so', { tags: 'full' }, async () => {
    const database = await filledServer();
    await database.query("UPDATE iree_tuned.claim SET digest = sha256('other') WHERE target = 2");
    const { at, run } = newPlace();
    const ended = await run('team', 'export', database.url, at('server.jsonl'));
    expect(ended.code).toBe(0);
    expect(ended.err).toMatch(/not exported: claim: it does not match its digest/);
    expect(ended.out).toContain('1,102 claims');
  });

  test('needs a server with the tables, and a login with rights', async () => {
    const { at, run } = newPlace();
    const [empty, old] = [await testDatabase(), await oldServer()];
    const closed = new URL(old.url);
    closed.port = '1';
    closed.search = '';
    const stranger = await old.login('stranger');
    const cases: readonly (readonly [string, RegExp])[] = [
      [closed.href.replace('localhost', '127.0.0.1'), /cannot be reached: .*ECONNREFUSED/],
      [empty.url, /has no tables of iree-compile-tuned: name the database/],
      [stranger, /permission denied for schema iree_tuned: use a login with the role/],
      [stranger.replace('secret', 'wrong'), /denies access \(28P01\): correct/],
      ['https://example.com/base', /must be postgres:/],
    ];
    for (const [url, message] of cases) {
      const ended = await run('team', 'export', url, at('server.jsonl'));
      expect(ended.code, url).toBeGreaterThan(0);
      expect(ended.err).toMatch(message);
      expect(ended.err).not.toMatch(/secret|wrong%20of/);
    }
    expect(existsSync(at('server.jsonl'))).toBe(false);
  });
});
