// The tuning database in a SQLite file.
import { resolve } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { connect } from './connect.ts';
import { toStoreError } from './errors.ts';
import { toRecord, toSubject, toTrial, type RecordRow, type SubjectRow, type TrialRow } from './rows.ts';
import * as sql from './statements.ts';
import type { Miss, RecordKey, Store, Subject } from './store.ts';

export interface SqliteOptions {
  /** Change nothing. A database that nobody is writing is read as it was when it was opened. */
  readonly readonly?: boolean;
  /** Milliseconds to wait for another process's lock; 5000 when left out. */
  readonly busyTimeoutMs?: number;
  /** Clock for misses and trials; the system's when left out. */
  readonly now?: () => Date;
}

/** Opens the database at `path`, creating or migrating it unless `readonly`. Opening and every method throw `StoreError`. */
export function openSqliteStore(path: string, options: SqliteOptions = {}): Store {
  const { readonly = false, busyTimeoutMs = 5000, now = () => new Date() } = options;
  const context = { path: resolve(path), readonly, busyTimeoutMs };
  const guard = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw toStoreError(error, context);
    }
  };
  const db = guard(() => connect(context));
  const statement = preparedOnce(db);
  // Taking the write lock at once lets a writer wait for its turn; a read lock that is raised later cannot wait.
  const write = (action: () => void) => {
    guard(() => {
      db.transaction(action).immediate();
    });
  };
  const read = <Row>(text: string, ...parameters: unknown[]) =>
    guard(() => statement(text).all(...parameters) as Row[]);
  const subjectId = (subject: Subject) => insertSubject(statement, subject);

  return {
    findRecords: (workloads, target, compiler) =>
      valid(
        read<RecordRow>(sql.FIND_RECORDS, { workloads: JSON.stringify(workloads), target, compiler }),
        toRecord,
      ),
    allRecords: () => valid(read<RecordRow>(sql.ALL_RECORDS), toRecord),
    putRecord: (subject, { configuration, evidence, failure, createdAt, createdBy }) => {
      write(() => {
        const id = subjectId(subject);
        statement(sql.REPLACE_RECORD).run({
          ...evidence,
          complete: evidence.complete ? 1 : 0,
          subject: id,
          configuration: JSON.stringify(configuration),
          failure,
          createdAt,
          createdBy,
        });
        statement(sql.DELETE_MISS).run(id);
      });
    },
    markFailed: (key, failure) => {
      write(() => statement(sql.MARK_FAILED).run({ ...keyOf(key), failure }));
    },
    addTrials: (subject, trials) => {
      if (trials.length === 0) return;
      const createdAt = now().toISOString();
      write(() => {
        const id = subjectId(subject);
        for (const trial of trials) {
          const configuration = JSON.stringify(trial.configuration);
          statement(sql.INSERT_TRIAL).run({ ...trial, subject: id, configuration, createdAt });
        }
      });
    },
    trials: (key) => valid(read<TrialRow>(sql.SELECT_TRIALS, keyOf(key)), toTrial),
    noteMiss: (subject) => {
      const seenAt = now().toISOString();
      write(() => statement(sql.NOTE_MISS).run(subjectId(subject), seenAt));
    },
    misses: () => read<Miss>(sql.SELECT_MISSES),
    subject: (key) => valid(read<SubjectRow>(sql.SELECT_SUBJECT, keyOf(key)), toSubject)[0],
    count: (increments) => {
      write(() => {
        for (const [name, amount] of Object.entries(increments)) {
          statement(sql.ADD_TO_COUNTER).run(name, amount);
        }
      });
    },
    counters: () => byName(read<CounterRow>(sql.SELECT_COUNTERS)),
    zeroCounters: () => byName(read<CounterRow>(sql.DELETE_COUNTERS)),
    close: () => {
      guard(() => db.close());
    },
  };
}

interface CounterRow {
  readonly name: string;
  readonly value: number;
}

const byName = (rows: readonly CounterRow[]) =>
  Object.fromEntries(rows.map(({ name, value }) => [name, value]));

type Prepare = (text: string) => Statement;

/** A build needs two or three statements: each is prepared when it is first used. */
function preparedOnce(db: Database): Prepare {
  const statements = new Map<string, Statement>();
  return (text) => {
    const known = statements.get(text) ?? db.prepare(text);
    statements.set(text, known);
    return known;
  };
}

/** Row id of the subject, with everything it refers to in place. Runs inside the caller's transaction. */
function insertSubject(statement: Prepare, subject: Subject): unknown {
  for (const part of sql.SUBJECT_PARTS) {
    statement(sql.upsertPart(part)).run(subject[part], formText(subject[`${part}Form`]));
  }
  const key = keyOf(subject);
  statement(sql.INSERT_SUBJECT).run(key);
  return (statement(sql.SELECT_SUBJECT_ID).get(key) as { id: unknown }).id;
}

/** JSON has no `undefined`, which `unknown` admits. */
function formText(form: unknown): string {
  return JSON.stringify(form ?? null);
}

/** The four keys alone: callers may hand over a whole record, which holds values that SQLite cannot bind. */
function keyOf({ workload, target, device, compiler }: RecordKey): RecordKey {
  return { workload, target, device, compiler };
}

function valid<Row, Value>(rows: readonly Row[], convert: (row: Row) => Value | undefined): Value[] {
  return rows.map(convert).filter((value) => value !== undefined);
}
