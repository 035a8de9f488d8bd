// Databases whose schema is not that of the migrations: code in it could run for ever.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { migrate, SCHEMA_VERSION } from '../../../src/store/sqlite/migrate.ts';
import { schemaText } from '../../../src/store/sqlite/schema.ts';
import { root } from '../../support/folders.ts';
import { failure, open, openExchange, recorded, temporaryPath } from '../support.ts';

it('is in db/schema.sql after all migrations', async () => {
  const db = new Database(':memory:');
  migrate(db, 'a.db');
  await expect(schemaText(db)).toMatchFileSnapshot(join(root, 'db/schema.sql'));
  db.close();
});

const ENDLESS = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
/** A constraint that takes longer than anybody waits. */
const SLOW = `CHECK (printf('%.*c', 100000, 'a') NOT LIKE '${'%a'.repeat(30)}%b')`;

/** A database with a record, and these changes. */
function changed(sql: string, version = SCHEMA_VERSION): string {
  const path = recorded();
  const db = new Database(path);
  db.pragma('foreign_keys = OFF');
  db.exec(sql);
  db.pragma(`user_version = ${version}`);
  db.close();
  return path;
}

/** Replaces a text in the definition of a table. */
const redefined = (table: string, text: string, by: string) => `
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, '${text}', '${by.replaceAll("'", "''")}') WHERE name = '${table}';
  PRAGMA writable_schema = OFF`;

/** `redefined` needs a connection that may write everything. */
function redefine(path: string, ...change: Parameters<typeof redefined>): string {
  const db = new Database(path);
  db.unsafeMode(true);
  db.exec(redefined(...change));
  db.close();
  return path;
}

const VIEW = `DROP TABLE workload; CREATE VIEW workload AS SELECT i AS id, i AS key, i AS form FROM (${ENDLESS})`;

const FOREIGN: [string, () => string][] = [
  ['a view in place of a table', () => changed(VIEW)],
  ['another view', () => changed(`CREATE VIEW mine AS ${ENDLESS}`)],
  [
    'a trigger',
    () =>
      changed(
        `CREATE TRIGGER mine AFTER INSERT ON miss BEGIN DELETE FROM miss WHERE count IN (${ENDLESS}); END`,
      ),
  ],
  ['a virtual table', () => changed('CREATE VIRTUAL TABLE mine USING fts5 (a)')],
  [
    'a generated column',
    () => changed(`ALTER TABLE claim ADD COLUMN mine INTEGER AS (printf('%.*c', 100000, 'a') LIKE '%a%a%b')`),
  ],
  ['a column', () => changed('ALTER TABLE claim ADD COLUMN mine TEXT')],
  ['an index on an expression', () => changed('CREATE INDEX mine ON claim (length(hex(zeroblob(ratio))))')],
  [
    'an index with a condition',
    () => changed(`CREATE INDEX mine ON claim (ratio) WHERE machine NOT LIKE '%a%b'`),
  ],
  ['a constraint', () => redefine(changed(''), 'counter', 'name <> ', `name NOT LIKE '%a%b' AND name <> `)],
  [
    'a constraint between comments',
    () => redefine(changed(''), 'counter', 'name <> ', `/* ' */ name NOT LIKE '%a%b' AND /* ' */ name <> `),
  ],
  [
    'a table that takes part in changes of ours',
    () => changed(`CREATE TABLE mine (a INTEGER REFERENCES claim ON DELETE SET NULL ${SLOW})`),
  ],
  [
    'a reference that looks like a comment',
    () => changed(`CREATE TABLE mine ("a--" INTEGER REFERENCES claim ON DELETE SET NULL ${SLOW}\n)`),
  ],
  ['a view, and an earlier version', () => changed(`DROP TABLE shape; CREATE VIEW shape AS ${ENDLESS}`, 8)],
  ['a view, and no version', () => changed(`CREATE VIEW mine AS ${ENDLESS}`, 0)],
];

describe.each(FOREIGN)('a database with %s', (_, make) => {
  it.each([{ readonly: false }, { readonly: true }])('is refused: %j', (options) => {
    const path = make();
    const { message } = failure('foreign', path, () => open(path, options));
    expect(message).toMatch(/could run for ever \(.{5,}\): set IREE_TUNED_DB to another file$/);
    failure('foreign', path, () => openExchange(path, options));
  });
});

it.each([
  ['a view in place of a table', VIEW],
  ['a trigger', 'CREATE TRIGGER mine AFTER INSERT ON miss BEGIN DELETE FROM miss; END'],
  ['a generated column', 'ALTER TABLE claim ADD COLUMN mine REAL AS (ratio + 1)'],
])('a database of a later version with %s is refused', (_, sql) => {
  const path = changed(sql, SCHEMA_VERSION + 1);
  for (const readonly of [true, false]) failure('foreign', path, () => open(path, { readonly }));
});

it.each([
  ['a table of its owner', 'CREATE TABLE mine (a)'],
  [
    'indexes on columns',
    'CREATE INDEX mine ON trial (machine, tool DESC); CREATE UNIQUE INDEX own ON run (id)',
  ],
  ['statistics', 'ANALYZE'],
  [
    'an index of an earlier version',
    'DROP INDEX shape_by_place; CREATE INDEX shape_by_place ON shape (structure, place)',
  ],
])('a database with %s is used', (_, sql) => {
  const path = changed(sql);
  for (const options of [{ readonly: true }, {}]) expect(open(path, options).allRecords()).toHaveLength(1);
});

it('a database with other comments and quotes in its schema is used', () => {
  const path = redefine(
    changed(''),
    'program_note',
    'NOT NULL,',
    "NOT /* that's 'all' */ NULL, -- it's new\n",
  );
  redefine(path, 'counter', 'counter', '"counter"');
  expect(open(path).allRecords()).toHaveLength(1);
});

it('a file that is no database stays an error of its own', () => {
  const path = temporaryPath();
  writeFileSync(path, 'no database'.repeat(100));
  failure('damaged', path, () => open(path));
});
