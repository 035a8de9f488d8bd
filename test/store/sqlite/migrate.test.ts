import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SCHEMA_VERSION, migrate, schemaVersion } from '../../../src/store/sqlite/migrate.ts';
import { temporaryFolder, TILE, open, openExchange, subjectOf, temporaryPath } from '../support.ts';

const MIGRATIONS = join(import.meta.dirname, '..', '..', '..', 'db', 'migrations');

function blank(): Database.Database {
  const db = new Database(':memory:');
  onTestFinished(() => {
    db.close();
  });
  return db;
}

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
  return folder;
}

it('SCHEMA_VERSION is the number of the last migration', () => {
  const numbers = readdirSync(MIGRATIONS).map((name) => Number(/^(\d{4})_\w+\.sql$/.exec(name)?.[1]));
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1));
});

it('creates the tables on the page about the database', () => {
  const page = readFileSync(join(MIGRATIONS, '..', 'README.md'), 'utf8');
  const [local] = page.split('## How databases merge');
  const listed = [...local!.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names]) => names!.match(/\w+/g)!);
  const db = blank();
  migrate(db, 'a.db');
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  expect(listed.sort()).toEqual(tables.sort());
});

it('applies only missing migrations, in order', () => {
  const directory = folderWith({
    '0001_one.sql': 'CREATE TABLE log (line TEXT); INSERT INTO log VALUES (1)',
    '0003_three.sql': 'INSERT INTO log VALUES (3)',
    '0002_two.sql': 'INSERT INTO log VALUES (2)',
  });
  const db = blank();
  for (const version of [1, 3, 3]) migrate(db, 'a.db', { version, directory });
  expect(db.prepare('SELECT line FROM log').pluck().all()).toEqual(['1', '2', '3']);
});

it('changes nothing if a migration fails', () => {
  const directory = folderWith({
    '0001_one.sql': 'CREATE TABLE log (line TEXT)',
    '0002_two.sql': 'INSERT INTO no_such_table VALUES (2)',
  });
  const db = blank();
  expect(() => {
    migrate(db, 'a.db', { version: 2, directory });
  }).toThrow('no_such_table');
  expect(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()).toBe(0);
  expect(schemaVersion(db, 'a.db')).toBe(0);
});

it('reports an incomplete installation if a migration is missing', () => {
  const directory = folderWith({ '0001_one.sql': '' });
  expect(() => {
    migrate(blank(), 'a.db', { version: 2, directory });
  }).toThrow('has no 0002_*.sql; install iree-compile-tuned again');
});

const SITE = `INSERT INTO target (key, form) VALUES ('t', '{}');
  INSERT INTO device (key, form) VALUES ('d', '{}');
  INSERT INTO compiler (key, form) VALUES ('c', '{}');`;

it('keeps the content of a database of the second schema', () => {
  const db = blank();
  migrate(db, 'a.db', { version: 2, directory: MIGRATIONS });
  const { workload, workloadForm } = subjectOf(1);
  const at = '2026-01-31T08:00:00.000Z';
  db.prepare('INSERT INTO workload (key, form) VALUES (?, ?)').run(workload, JSON.stringify(workloadForm));
  db.exec(`
    ${SITE}
    INSERT INTO subject (workload, target, compiler, device) VALUES (1, 1, 1, 1);
    INSERT INTO record VALUES (1, '{"kind":"default"}', 1, 1, 1, 1, 1, 5, 60, 0.01, 0, 120, 42.5, '["tile"]', 0, '${at}', 'a');
    INSERT INTO trial (subject, configuration, outcome, seconds, strategy, created_at)
    VALUES (1, '{"kind":"default"}', 'measured', 1, 'grid', '${at}');
    INSERT INTO mark VALUES (1, '{"kind":"tile"}', 'slower', 'so', '${at}', 'a');
    INSERT INTO miss VALUES (1, 7, '${at}');
    INSERT INTO undecided VALUES (1, 'too slow', 20, 1, '${at}')`);
  const read = () =>
    ['workload', 'subject', 'miss', 'undecided'].map((table) => db.prepare(`SELECT * FROM ${table}`).all());
  const before = read();
  for (const rows of before) expect(rows).toHaveLength(1);
  migrate(db, 'a.db');
  expect(read()).toEqual(before);
  const values = (sql: string) => db.prepare(sql).raw().all();
  const [claim] = values('SELECT * FROM claim') as [unknown[]];
  const [digest, change] = claim.splice(-2);
  const own = [1, 1, '{"kind":"default"}', 1, 0.99, 1, 1, 1, 1, 1, 5, 60, 0.01, 0, 120, 42.5];
  expect(claim).toEqual([...own, '["tile"]', 0, at, 'a', 'unknown', 'unknown']);
  expect([digest, change]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), 1]);
  expect(values('SELECT * FROM mark')).toEqual([
    [1, '{"kind":"tile"}', 0, 'slower', 'so', at, 'a', 'unknown', 'unknown', 2],
  ]);
  const id = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
  const trial = [1, id, 1, '{"kind":"default"}', 'measured', 1, null, null, 'grid'];
  expect(values('SELECT * FROM trial')).toEqual([[...trial, at, 'unknown', 'unknown', 'unknown', 3]]);
  expect(values('SELECT last FROM change')).toEqual([[3]]);
  expect(values('SELECT * FROM run')).toEqual([]);
});

it('keeps the trials and runs of a database of the third schema', () => {
  const db = blank();
  migrate(db, 'a.db', { version: 3, directory: MIGRATIONS });
  db.exec(`
    INSERT INTO workload (key, form) VALUES ('w', '{}');
    ${SITE}
    INSERT INTO subject (workload, target, compiler, device) VALUES (1, 1, 1, 1);`);
  const trial = db.prepare(`INSERT INTO trial (subject, configuration, outcome, strategy, created_at)
    VALUES (1, '{"kind":"default"}', 'timeout', 'grid', '2026-01-31T08:00:00Z')`);
  const run = db.prepare(`INSERT INTO run (trial, stage, batch, placement, build, seconds)
    VALUES (?, 'finals', ?, 'packed', 1, '[1]')`);
  for (let i = 0; i < 3; i++) {
    const { lastInsertRowid } = trial.run();
    run.run(lastInsertRowid, i);
    run.run(lastInsertRowid, i + 10);
  }
  const copy = new Database(db.serialize());
  const runs = (of: Database.Database) =>
    of
      .prepare('SELECT t.id, r.batch FROM run AS r JOIN trial AS t ON t.number = r.trial ORDER BY r.id')
      .raw()
      .all();
  migrate(db, 'a.db');
  const found = runs(db) as [string, number][];
  expect(found.map(([, batch]) => batch)).toEqual([0, 10, 1, 11, 2, 12]);
  // Equal trials get different ids, which are the same in every copy.
  expect(new Set(found.map(([id]) => id)).size).toBe(3);
  migrate(copy, 'copy.db');
  expect(runs(copy)).toEqual(found);
  copy.close();
  expect(db.pragma('foreign_key_check')).toEqual([]);
});

describe('a database of the first schema', () => {
  /** Two workloads with tiles, one failure, one with data tiling, one miss, one without a record. */
  function first(): Database.Database {
    const db = blank();
    migrate(db, 'a.db', { version: 1, directory: MIGRATIONS });
    const tile = JSON.stringify(TILE);
    const dataTile = JSON.stringify({ version: 1, kind: 'data-tile' });
    db.exec(`
      ${SITE}
      INSERT INTO counter VALUES ('compiles', 3);`);
    for (let m = 1; m <= 5; m++) {
      const { workload, workloadForm } = subjectOf(m);
      db.prepare('INSERT INTO workload (key, form) VALUES (?, ?)').run(
        workload,
        // The first schema has no kind of work.
        JSON.stringify({ ...workloadForm, kind: undefined }),
      );
      db.prepare('INSERT INTO subject (workload, target, compiler, device) VALUES (?, 1, 1, 1)').run(m);
    }
    const record = db.prepare(`
      INSERT INTO record VALUES (?, ?, 1.83, 1.79, 1.88, 0.00183, 0.001, 5, 60, 0.01, 0, 120, 42.5, 1, ?,
        '2026-01-31T08:00:00.000Z', 'a tester')`);
    record.run(1, tile, null);
    record.run(2, tile, 'compile failed: in.mlir:2:3: error: no such thing');
    record.run(3, dataTile, null);
    const trial = db.prepare(`
      INSERT INTO trial (subject, configuration, outcome, message, strategy, created_at)
      VALUES (?, ?, 'compile-error', 'no', 'grid', '2026-01-31T08:00:00.000Z')`);
    trial.run(1, tile);
    trial.run(3, tile);
    trial.run(3, dataTile);
    trial.run(5, dataTile);
    db.exec(`INSERT INTO miss VALUES (4, 7, '2026-01-31T08:00:00.000Z')`);
    return db;
  }

  const all = (db: Database.Database, sql: string) => db.prepare(sql).all();

  it('keeps its records, trials, misses and counters', () => {
    const db = first();
    const read = (select: string) =>
      ['miss', 'subject', 'counter']
        .map((table) => all(db, `SELECT * FROM ${table}`))
        .concat([
          all(db, `SELECT id, key, json_remove(form, '$.kind') FROM workload`),
          all(db, 'SELECT configuration, outcome, message, strategy, created_at FROM trial'),
          all(db, select),
        ]);
    const columns = `subject, configuration, ratio, low, high, default_seconds, seconds, processes, repetitions,
      noise_floor, max_error, trials, tuning_seconds, complete, created_at, created_by`;
    const select = (table: string) => `SELECT ${columns} FROM ${table} ORDER BY subject`;
    const before = read(select('record'));
    migrate(db, 'a.db');
    expect(read(select('claim'))).toEqual(before);
    expect(before.at(-1)).toHaveLength(3);
    expect(all(db, `SELECT DISTINCT json_extract(form, '$.kind') AS kind FROM workload`)).toEqual([
      { kind: 'contraction' },
    ]);
    expect(all(db, 'SELECT * FROM undecided')).toEqual([]);
    expect(db.pragma('foreign_key_check')).toEqual([]);
  });

  it('gets marks from the failures of its records, and families from its trials', () => {
    const db = first();
    migrate(db, 'a.db');
    expect(all(db, 'SELECT subject, families FROM claim ORDER BY subject')).toEqual([
      { subject: 1, families: '["tile"]' },
      { subject: 2, families: '["tile"]' },
      { subject: 3, families: '["data-tile","tile"]' },
    ]);
    expect(all(db, 'SELECT * FROM mark')).toEqual([
      {
        subject: 2,
        configuration: JSON.stringify(TILE),
        generation: 0,
        kind: 'compile-error',
        reason: 'in.mlir:2:3: error: no such thing',
        created_at: '2026-01-31T08:00:00.000Z',
        created_by: 'a tester',
        machine: 'unknown',
        tool: 'unknown',
        change: 4,
      },
    ]);
  });

  it('drops invalid rows only', () => {
    const db = first();
    db.pragma('ignore_check_constraints = ON');
    db.exec(`
      UPDATE record SET seconds = -1 WHERE subject = 1;
      UPDATE record SET configuration = '{' WHERE subject = 2;
      UPDATE trial SET configuration = '{' WHERE subject = 1;
      UPDATE workload SET form = '{' WHERE id = 1`);
    db.pragma('ignore_check_constraints = OFF');
    migrate(db, 'a.db');
    expect(all(db, 'SELECT subject FROM claim')).toEqual([{ subject: 3 }]);
    expect(all(db, 'SELECT subject FROM trial ORDER BY id')).toHaveLength(3);
  });
});

it('keeps notes about programs, whose origin is unknown', () => {
  const path = temporaryPath();
  const db = new Database(path);
  migrate(db, path, { version: 9, directory: MIGRATIONS });
  const program = JSON.stringify(['a digest', 'a target', 'a device', 'a compiler', [], []]);
  const noted = db.prepare('INSERT INTO program_note VALUES (?, ?, ?, ?)');
  for (const kind of ['forms', 'program', 'times'])
    noted.run(program, kind, `{"of":"${kind}"}`, '2026-01-31T08:00:00.000Z');
  db.close();
  const store = open(path);
  for (const kind of ['forms', 'program', 'times'] as const)
    expect(store.programNotes(kind, program)).toEqual([{ of: kind }]);
  const lines = [...openExchange(path).lines({}, (reason) => expect.fail(reason))];
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(
    ['forms', 'program'].map((kind) => ({ type: 'note', kind, createdBy: 'unknown', machine: 'unknown' })),
  );
  // A later note of this machine comes first.
  store.noteProgram('forms', program, { of: 'this machine' });
  expect(store.programNotes('forms', program)).toEqual([{ of: 'this machine' }, { of: 'forms' }]);
});
