// @module-tag slow
// Untrusted databases: builds skip invalid rows, and the doctor counts them.
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { Exchange } from '../../src/store/exchange/exchange.ts';
import { isConfiguration } from '../../src/backend/index.ts';
import { readValue } from '../../src/store/exchange/read.ts';
import { alter, open, openExchange, SUBJECT, temporaryPath } from './support.ts';
import { PROGRAM, receiveLines, SAMPLE } from './exchange/samples.ts';

/** Values that the type of a column allows. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  TEXT: [
    "''",
    "'{'",
    "'null'",
    "'[]'",
    `'{"version":1,"kind":"tile","distribution":["%x"]}'`,
    `'{"kind":"default","version":1}'`,
    `'"; DROP TABLE claim; --'`,
    `'#iree_codegen.compilation_info<lowering_config = #x>'`,
    "printf('%.*c', 100000, 'x')",
    "char(27) || '[2J'",
    "CAST(x'ff00fe' AS TEXT)",
  ],
  REAL: ['-1', '0', '9e999', '-9e999', '1e308', '1e-320'],
  INTEGER: ['-1', '0', '9007199254740993', '9223372036854775807'],
};
/** Counts of invalid rows in a valid database. */
const SOUND = {
  ...{ claim: 0, mark: 0, trial: 0, run: 0, revocation: 0, note: 0 },
  ...{ workload: 0, target: 0, device: 0, compiler: 0 },
};
const TABLES = ['claim', 'mark', 'trial', 'run', 'revocation', 'workload', 'program_note'];

const fill = (exchange: Exchange) => receiveLines(exchange, SAMPLE);

it('is validated in every column', () => {
  const path = temporaryPath();
  const exchange = openExchange(path);
  fill(exchange);
  const store = open(path);
  const db = new Database(path);
  db.pragma('ignore_check_constraints = ON');
  db.pragma('foreign_keys = OFF');
  // Hundreds of commits need not survive a power cut.
  db.pragma('synchronous = OFF');
  const columns = TABLES.flatMap((table) =>
    (db.pragma(`table_info(${table})`) as { name: string; type: string }[])
      .filter(({ name }) => !['id', 'number', 'subject', 'trial', 'change'].includes(name))
      .flatMap(({ name, type }) => (HOSTILE[type] ?? []).map((value) => ({ table, name, value }))),
  );
  expect(columns.length).toBeGreaterThan(200);
  for (const table of TABLES) db.exec(`CREATE TEMP TABLE saved_${table} AS SELECT * FROM ${table}`);
  let ignored = 0;
  for (const { table, name, value } of columns) {
    db.exec('BEGIN');
    try {
      db.exec(`UPDATE ${table} SET ${name} = ${value}`);
    } catch (error) {
      // Types and keys hold for any writer.
      expect(String(error)).toMatch(/UNIQUE|cannot store/);
      db.exec('ROLLBACK');
      continue;
    }
    db.exec('COMMIT');
    const place = `${table}.${name} = ${value}`;
    for (const record of [
      ...store.findRecords([SUBJECT.workload], SUBJECT.target, SUBJECT.compiler),
      ...store.allRecords(),
    ]) {
      expect(isConfiguration(record.configuration, 3), place).toBe(true);
      const { ratio, low, high, seconds } = record.evidence;
      expect(
        [ratio, low, high, seconds].every((one) => one > 0 && Number.isFinite(one)),
        place,
      ).toBe(true);
      expect(low <= ratio && ratio <= high, place).toBe(true);
    }
    for (const { configuration } of [
      ...store.marks(SUBJECT),
      ...store.trials(SUBJECT),
      ...store.runs(SUBJECT),
    ])
      expect(isConfiguration(configuration), place).toBe(true);
    store.subject(SUBJECT);
    store.programNotes('forms', PROGRAM);
    const { unsound } = exchange.health();
    if (Object.values(unsound).some((count) => count > 0)) ignored++;
    // Exported lines are valid.
    for (const line of exchange.lines({}, () => undefined))
      expect(readValue(JSON.parse(line)).outcome, place).not.toBe('refused');
    // Unchanged.
    db.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM saved_${table}`);
  }
  expect(ignored).toBeGreaterThan(60);
  expect(exchange.health().unsound).toEqual(SOUND);
  db.close();
});

it('is counted by row', () => {
  const path = temporaryPath();
  const exchange = openExchange(path);
  fill(exchange);
  expect(exchange.health()).toEqual({
    ...{ records: 1, claims: 2, revokedClaims: 0, keptLines: 0 },
    unsound: SOUND,
  });
  alter(
    path,
    `UPDATE claim SET low = 9 WHERE id = 1; UPDATE mark SET created_at = 'now'; UPDATE run SET seconds = '[0]';
     UPDATE revocation SET created_at = 'now'`,
  );
  expect(exchange.health()).toMatchObject({
    ...{ records: 1, claims: 2 },
    unsound: { claim: 1, mark: 1, trial: 0, run: 1, revocation: 1 },
  });
});
