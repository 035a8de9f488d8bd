// @module-tag slow
// Databases of other versions of this program: nothing is lost, and an unreadable one stays unchanged.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { openAsFarAsPossible } from '../../src/store/open.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/store/sqlite/migrate.ts';
import { deadOwner } from '../support/owners.ts';
import { DECISION, failure, look, open, openExchange, recorded, SUBJECT, temporaryPath } from './support.ts';

/** SQL of a database of the first release, after a tuned build, a miss and a hit. */
const FIRST = readFileSync(join(import.meta.dirname, 'first-release.sql'), 'utf8');

let path: string;
beforeEach(() => {
  path = temporaryPath();
});

/** Writes the database of the first release in its journal mode. */
function writeFirst(): Buffer {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec(FIRST);
  db.close();
  return readFileSync(path);
}

const ROW = 'contraction m=1 n=1024 k=2048 f32,f32->f32 mk,kn->mn';

describe('a database of the first release', () => {
  it('equals the output of that release', () => {
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

  it('is migrated with its content when opened for writing', () => {
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
    // Its miss stays.
    expect(store.misses()).toHaveLength(before[6] as number);
    // Its record is found by a build's look-up.
    expect(store.findRecords([ROW], won.target, won.compiler)).toMatchObject([
      { workload: ROW, configuration: won.configuration },
    ]);
  });

  it('is kept as a copy beside the migrated one, with a message', () => {
    writeFirst();
    const rows = (of: string) =>
      look(of, 'SELECT group_concat(ratio) FROM (SELECT ratio FROM record ORDER BY subject)');
    const before = rows(path);
    const messages: string[] = [];
    open(path, { onMigrated: (message) => messages.push(message) });
    const copy = `${path}.schema-1`;
    expect(messages).toEqual([
      expect.stringMatching(
        new RegExp(`^tuning database ${path} has schema ${SCHEMA_VERSION} now, .* ${copy} `),
      ),
    ]);
    expect([look(copy, 'PRAGMA application_id'), look(copy, 'PRAGMA user_version')]).toEqual([
      APPLICATION_ID,
      1,
    ]);
    expect(rows(copy)).toBe(before);
    open(path, { onMigrated: (message) => messages.push(message) });
    expect(messages).toHaveLength(1);
    expect(
      readdirSync(dirname(path))
        .filter((name) => !/-(?:wal|shm)$/.test(name))
        .sort(),
    ).toEqual(['tuning.db', 'tuning.db.schema-1']);
  });

  it('loses the rest of a copy that a killed migration began', () => {
    writeFirst();
    const rest = `${path}.schema-1.${deadOwner()}.tmp`;
    for (const end of ['', '-journal']) writeFileSync(rest + end, 'x');
    open(path);
    for (const end of ['', '-journal']) expect(existsSync(rest + end)).toBe(false);
    expect(existsSync(`${path}.schema-1`)).toBe(true);
  });

  it('is read and not migrated if no copy can be written', async () => {
    const before = writeFirst();
    mkdirSync(`${path}.schema-1`);
    const messages: string[] = [];
    const { store, whyReadonly } = await openAsFarAsPossible(path, {
      onMigrated: (text) => messages.push(text),
    });
    expect(store.allRecords().map(({ workload }) => workload)).toContain(ROW);
    store.close();
    expect(whyReadonly).toMatch(/cannot be written .*; it is read-only now$/);
    expect(messages).toEqual([]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is read and stays unchanged when read-only', () => {
    const before = writeFirst();
    const store = open(path, { readonly: true });
    expect(store.allRecords().map(({ workload }) => workload)).toContain(ROW);
    failure('unwritable', path, () => {
      store.putRecord(SUBJECT, DECISION);
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
    // A migrated copy on disk has the same content.
    const linesOf = (options: { readonly readonly: boolean }) => {
      const exchange = openExchange(path, options);
      return [...exchange.lines({}, (reason) => expect.fail(reason))];
    };
    const read = linesOf({ readonly: true });
    expect(read.map((line) => (JSON.parse(line) as { type: string }).type)).toContain('claim');
    expect(linesOf({ readonly: false })).toEqual(read);
  });

  it('is read with the latest writes of another process', () => {
    writeFirst();
    const writer = new Database(path);
    writer.exec('DELETE FROM record; DELETE FROM trial');
    expect(open(path, { readonly: true }).allRecords()).toEqual([]);
    writer.close();
  });
});

it('a large read-only database of an older schema is an error with the way out', () => {
  writeFirst();
  const db = new Database(path);
  db.exec('CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(64 * 1024 * 1024))');
  db.close();
  const { message } = failure('unavailable', path, () => open(path, { readonly: true }));
  expect(message).toMatch(/older schema \(1, this program needs \d+\).*open it once for writing/);
});

describe('a database of a later version', () => {
  /** A database with a record, changed like a later version. */
  function writeLater(sql: string): Buffer {
    const db = new Database(recorded(path));
    db.exec(`${sql}; PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    db.close();
    return readFileSync(path);
  }
  const staysAs = (before: Buffer) => {
    expect(readFileSync(path).equals(before)).toBe(true);
    for (const more of ['-wal', '-shm', '-journal']) expect(existsSync(path + more)).toBe(false);
  };
  const wayOut = /newer iree-compile-tuned .*: update iree-compile-tuned, or set IREE_TUNED_DB/;

  it('is read without a change if it has all that reading needs', async () => {
    const before = writeLater('ALTER TABLE claim ADD COLUMN joules REAL; CREATE TABLE energy (joules REAL)');
    expect(open(path, { readonly: true }).allRecords()).toMatchObject([{ workload: SUBJECT.workload }]);
    const { store, whyReadonly } = await openAsFarAsPossible(path);
    expect(whyReadonly).toMatch(wayOut);
    expect(store.findRecords([SUBJECT.workload], SUBJECT.target, SUBJECT.compiler)).toHaveLength(1);
    failure('unwritable', path, () => {
      store.noteMiss(SUBJECT);
    });
    store.close();
    staysAs(before);
  });

  it('is read while a process of that version writes to it', () => {
    writeLater('ALTER TABLE claim ADD COLUMN joules REAL');
    const writer = new Database(path);
    writer.exec('DELETE FROM claim');
    expect(open(path, { readonly: true }).allRecords()).toEqual([]);
    writer.close();
  });

  it.each([
    ['a column', 'ALTER TABLE claim RENAME COLUMN low TO least'],
    ['a table', 'DROP TABLE program_note'],
  ])('that lacks %s is an error with the way out', async (_, sql) => {
    const before = writeLater(sql);
    for (const readonly of [true, false])
      expect(failure('future', path, () => open(path, { readonly })).message).toMatch(wayOut);
    await expect(openAsFarAsPossible(path)).rejects.toMatchObject({ kind: 'future' });
    staysAs(before);
  });

  it.each([{ readonly: false }, { readonly: true }])(
    'is not copied: what is new in it would be lost: %j',
    (options) => {
      const before = writeLater('ALTER TABLE claim ADD COLUMN joules REAL');
      const { message } = failure('future', path, () => openExchange(path, options));
      expect(message).toMatch(wayOut);
      staysAs(before);
    },
  );
});
