// @module-tag slow
// Databases that other versions of this program have made, opened by this one: nothing of them is lost, and what cannot be
// opened stays as it is.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqliteExchange } from '../../src/store/sqlite/exchange.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/store/sqlite/migrate.ts';
import { DECISION, failure, look, open, SUBJECT, temporaryPath } from './support.ts';

/** As the first release left it after a tuned build, one that found a miss and one that found the record. */
const FIRST = readFileSync(join(import.meta.dirname, 'first-release.sql'), 'utf8');

let path: string;
beforeEach(() => {
  path = temporaryPath();
});

/** Writes the database of the first release, in the journal mode that it had. */
function writeFirst(): Buffer {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec(FIRST);
  db.close();
  return readFileSync(path);
}

const ROW = 'contraction m=1 n=1024 k=2048 f32,f32->f32 mk,kn->mn';

describe('a database of the first release', () => {
  it('is what that release made', () => {
    writeFirst();
    expect([look(path, 'PRAGMA application_id'), look(path, 'PRAGMA user_version')]).toEqual([
      APPLICATION_ID,
      1,
    ]);
    const tables = look(
      path,
      `SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name)`,
    );
    expect(tables).toBe('compiler counter device miss record subject target trial workload');
  });

  it('is migrated when it is opened to be written, with all that is in it', () => {
    writeFirst();
    const count = (table: string) => look(path, `SELECT count(*) FROM ${table}`);
    const tables = ['workload', 'target', 'device', 'compiler', 'subject', 'trial', 'miss', 'counter'];
    const before = tables.map(count);
    const columns = ['ratio', 'low', 'high', 'seconds', 'trials', 'created_at', 'created_by'];
    const evidence = columns.map((column) => look(path, `SELECT ${column} FROM record WHERE ratio > 1`));
    const store = open(path);
    const records = store.allRecords();
    expect(look(path, 'PRAGMA user_version')).toBe(SCHEMA_VERSION);
    expect(tables.map(count)).toEqual(before);
    for (const rows of before) expect(rows).toBeGreaterThan(0);
    const won = records.find(({ workload }) => workload === ROW)!;
    const { ratio, low, high, seconds, trials } = won.evidence;
    expect([ratio, low, high, seconds, trials, won.createdAt, won.createdBy]).toEqual(evidence);
    expect(won).toMatchObject({ configuration: { kind: 'tile' }, failure: null, tool: 'unknown' });
    expect(store.trials(won)).not.toEqual([]);
    // What it could not decide about stays asked for.
    expect(store.misses()).toHaveLength(before[6] as number);
    // And is found as a build asks for it.
    expect(store.findRecords([ROW], won.target, won.compiler)).toMatchObject([
      { workload: ROW, configuration: won.configuration },
    ]);
  });

  it('is used where it may only be read, and stays as it is', () => {
    const before = writeFirst();
    const store = open(path, { readonly: true });
    expect(store.allRecords().map(({ workload }) => workload)).toContain(ROW);
    failure('unwritable', path, () => {
      store.putRecord(SUBJECT, DECISION);
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
    // A copy of it says what the migrated one says.
    const linesOf = (options: { readonly readonly: boolean }) => {
      const exchange = openSqliteExchange(path, options);
      const lines = [...exchange.lines({}, (reason) => expect.fail(reason))];
      exchange.close();
      return lines;
    };
    const read = linesOf({ readonly: true });
    expect(read.map((line) => (JSON.parse(line) as { type: string }).type)).toContain('claim');
    expect(linesOf({ readonly: false })).toEqual(read);
  });

  it('is used with what another process has just written to it', () => {
    writeFirst();
    const writer = new Database(path);
    writer.exec('DELETE FROM record; DELETE FROM trial');
    expect(open(path, { readonly: true }).allRecords()).toEqual([]);
    writer.close();
  });
});

it('a large database of an older schema that may only be read says what to do', () => {
  writeFirst();
  const db = new Database(path);
  db.exec('CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(64 * 1024 * 1024))');
  db.close();
  const { message } = failure('unavailable', path, () => open(path, { readonly: true }));
  expect(message).toMatch(/older schema \(1, this program needs \d+\).*open it once to write/);
});

describe('a database of a later version', () => {
  it.each([{ readonly: false }, { readonly: true }])('is left alone, to the byte: %j', (options) => {
    const store = open(path);
    store.putRecord(SUBJECT, DECISION);
    store.close();
    const db = new Database(path);
    db.exec(`ALTER TABLE claim ADD COLUMN joules REAL; PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    db.close();
    const before = readFileSync(path);
    for (const opening of [() => open(path, options), () => openSqliteExchange(path, options)]) {
      const { message } = failure('future', path, opening);
      expect(message).toMatch(/newer iree-compile-tuned .*: update iree-compile-tuned, or set IREE_TUNED_DB/);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    for (const more of ['-wal', '-shm', '-journal']) expect(existsSync(path + more)).toBe(false);
  });
});
