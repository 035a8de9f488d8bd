// Refuses databases whose schema could run code. A stranger's view, trigger or constraint may never end, and this SQLite has no limit for
// the time of a statement.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { packageRoot } from '../../system/package-root.ts';
import { resultOr } from '../../system/result-or.ts';
import { ELSEWHERE, StoreError } from '../errors.ts';
import { plainText } from '../validate.ts';
import { migrate, OWN, SCHEMA_VERSION } from './migrate.ts';

/** The schema after all migrations. `npx vitest run test/store/sqlite/schema.test.ts -u` writes it. */
const SCHEMA_FILE = join(packageRoot, 'db', 'schema.sql');

const SEPARATOR = '\n;\n';

/** The content of `SCHEMA_FILE` for this database. */
export const schemaText = (db: Database.Database): string => `${statementsOf(db).join(SEPARATOR)}\n`;

/** The statements of a schema, as SQLite stores and reads them. */
const statementsOf = (db: Database.Database): string[] =>
  db.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').pluck().all().map(String);

/**
 * Refuses a schema that differs from that of the migrations. Tables without a relation to ours may be added, and indexes on columns. A later
 * version may have any tables without computed columns, because its databases are only read.
 * @param version of the database's schema
 * @throws StoreError
 */
export function refuseForeignSchema(db: Database.Database, path: string, version: number): void {
  const statements = statementsOf(db);
  const own = version === SCHEMA_VERSION ? resultOr(() => readFileSync(SCHEMA_FILE, 'utf8'), null) : null;
  if (statements.length === 0 || `${statements.join(SEPARATOR)}\n` === own) return;
  const foreign =
    version > SCHEMA_VERSION
      ? foreignInLater(statements, db)
      : foreignIn(statements, own ?? migratedText(version, path));
  if (foreign === undefined) return;
  const start = plainText(foreign, LONGEST_START).replaceAll(/\s+/g, ' ');
  throw new StoreError(
    'foreign',
    `tuning database ${path} has a schema that this program does not make, and that could run for ever (${start}): ${ELSEWHERE}`,
  );
}

/** Characters of a foreign statement in messages. */
const LONGEST_START = 60;

function migratedText(version: number, path: string): string {
  const db = new Database(':memory:');
  try {
    migrate(db, path, { ...OWN, version });
    return schemaText(db);
  } finally {
    db.close();
  }
}

/** The first statement that is neither in the text nor harmless. */
function foreignIn(statements: readonly string[], text: string): string | undefined {
  const own = new Map(text.split(SEPARATOR).map((one) => [tableIn(inOneSpelling(one)), inOneSpelling(one)]));
  return statements.find((statement) => {
    const spelled = inOneSpelling(statement);
    const table = tableIn(spelled);
    if (table === undefined) return !PLAIN_INDEX.test(spelled);
    // A table with a reference to another takes part in changes of the other.
    return own.has(table) ? own.get(table) !== spelled : /references/i.test(statement);
  });
}

function foreignInLater(statements: readonly string[], db: Database.Database): string | undefined {
  const computed = db
    .prepare(
      `SELECT c.name FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c WHERE t.schema = 'main' AND c.hidden <> 0`,
    )
    .pluck();
  const other = statements.find((statement) => !/^CREATE (?:TABLE|INDEX|UNIQUE INDEX) /.test(statement));
  return other ?? (computed.get() as string | undefined);
}

const PLAIN_INDEX = /^CREATE (?:UNIQUE )?INDEX \w+ ON \w+ ?\([\w ,]+\)(?: WHERE \w+ IS NOT NULL)?$/;

/** Name of a table that a statement creates; undefined for another statement. */
const tableIn = (spelled: string): string | undefined =>
  /^CREATE TABLE (\w+) ?\(/.exec(spelled)?.[1]?.toLowerCase();

/** A statement without comments, with single spaces, and without the quotes that SQLite puts around renamed tables. */
const inOneSpelling = (sql: string): string =>
  sql
    .replaceAll(
      /('(?:[^']|'')*')|"(\w+)"|(?:--[^\n]*|\/\*[^]*?(?:\*\/|$)|\s)+/g,
      (_, text?: string, name?: string) => text ?? name ?? ' ',
    )
    .trim();
