// Temporary files, sample values, and child processes as other users of the database.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished } from 'vitest';
import { StoreError, type StoreErrorKind } from '../../src/store/errors.ts';
import type { Exchange } from '../../src/store/exchange/exchange.ts';
import type { OpenOptions } from '../../src/store/sqlite/connect.ts';
import { openExchange as openSqliteExchange } from '../../src/store/sqlite/exchange.ts';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { NODE_CODE } from '../support/node-code.ts';
import { DECISION, SUBJECT } from './samples.ts';

export { DECISION, EVIDENCE, MARK, RUN, SUBJECT, TILE, TRIAL, subjectOf } from './samples.ts';

/** A folder that the test's end removes. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iree-tuned-store-'));
  onTestFinished(() => {
    // Some tests remove write permission.
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Path of a database that does not exist yet. */
export function temporaryPath(): string {
  return join(temporaryFolder(), 'tuning.db');
}

/** An open store that the test's end closes. */
export function open(path: string, options?: SqliteOptions): Store {
  const store = openSqliteStore(path, options);
  onTestFinished(() => {
    store.close();
  });
  return store;
}

/** An open exchange that the test's end closes. */
export function openExchange(path = temporaryPath(), options?: OpenOptions): Exchange {
  const exchange = openSqliteExchange(path, options);
  onTestFinished(() => {
    exchange.close();
  });
  return exchange;
}

/** Path of a closed database with one record. */
export function recorded(path = temporaryPath()): string {
  using store = openSqliteStore(path);
  store.putRecord(SUBJECT, DECISION);
  return path;
}

/** Runs SQL on the file, bypassing the store. */
export function alter(path: string, sql: string): void {
  const db = new Database(path);
  // Another program can write rows that violate constraints.
  db.pragma('ignore_check_constraints = ON');
  db.exec(sql);
  db.close();
}

/** Reads one value from the file, bypassing the store. */
export function look(path: string, sql: string): unknown {
  const db = new Database(path);
  const value: unknown = db.prepare(sql).pluck().get();
  db.close();
  return value;
}

/** The `StoreError` of an action. Checks its kind, and the path in its message. */
export function failure(kind: StoreErrorKind, path: string, action: () => unknown): StoreError {
  let thrown: unknown;
  try {
    action();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(StoreError);
  const error = thrown as StoreError;
  expect({ kind: error.kind, message: error.message }).toEqual({
    kind,
    message: expect.stringContaining(path) as string,
  });
  return error;
}

export interface Child {
  readonly process: ChildProcess;
  /** Resolves with stdout once it contains the text. Rejects if the child ends before. */
  says(text: string): Promise<string>;
  /** Resolves with stdout after exit code 0. Rejects otherwise. */
  done: Promise<string>;
  /** Stdout after the child's end, for any exit code. */
  ended: Promise<string>;
}

/** Starts a process that runs `deed` of child.ts on the database. */
export function startChild(deed: string, ...parameters: string[]): Child {
  const script = join(import.meta.dirname, 'child.ts');
  const child = spawn(process.execPath, ['--conditions=source', script, deed, ...parameters], {
    env: { ...process.env, ...NODE_CODE },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ended = closed.then(() => output);
  const done = closed.then((code) => {
    if (code !== 0) throw new Error(`${deed} ended with ${String(code)}: ${errors}`);
    return output;
  });
  // Prevents an unhandled rejection in tests that do not await `done`.
  done.catch(() => undefined);
  const says = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        if (output.includes(text)) resolve(output);
      };
      child.stdout.on('data', check);
      void closed.then(() => {
        reject(new Error(`${deed} ended before it said ${text}: ${errors}`));
      });
      check();
    });
  return { process: child, says, done, ended };
}
