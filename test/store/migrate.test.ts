import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { APPLICATION_ID, SCHEMA_VERSION, migrate, schemaVersion } from '../../src/store/migrate.ts';
import { temporaryFolder } from './support.ts';

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'db', 'migrations');

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

it('knows exactly the migrations that there are', () => {
  const numbers = readdirSync(MIGRATIONS).map((name) => Number(/^(\d{4})_\w+\.sql$/.exec(name)?.[1]));
  expect(numbers.sort()).toEqual(Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1));
});

it('finds the migrations of the package', () => {
  const db = blank();
  migrate(db, 'a.db');
  expect(schemaVersion(db, 'a.db')).toBe(SCHEMA_VERSION);
  expect(db.pragma('application_id', { simple: true })).toBe(APPLICATION_ID);
});

it('applies only those that are missing, in order', () => {
  const directory = folderWith({
    '0001_one.sql': 'CREATE TABLE log (line TEXT); INSERT INTO log VALUES (1)',
    '0003_three.sql': 'INSERT INTO log VALUES (3)',
    '0002_two.sql': 'INSERT INTO log VALUES (2)',
  });
  const db = blank();
  for (const version of [1, 3, 3]) migrate(db, 'a.db', { version, directory });
  expect(db.prepare('SELECT line FROM log').pluck().all()).toEqual(['1', '2', '3']);
});

it('leaves a database as it was when a migration fails', () => {
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

it('says that the installation is incomplete when a migration is not there', () => {
  const directory = folderWith({ '0001_one.sql': '' });
  expect(() => {
    migrate(blank(), 'a.db', { version: 2, directory });
  }).toThrow('has no 0002_*.sql; install iree-compile-tuned again');
});
