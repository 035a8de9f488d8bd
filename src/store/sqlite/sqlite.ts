// The tuning database in a SQLite file.
import { storedForm } from '../../workload/workload.ts';
import { resolve } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { connect } from './connect.ts';
import { toStoreError } from '../errors.ts';
import {
  toDevice,
  toRecord,
  toSubject,
  toRun,
  toTrial,
  type DeviceRow,
  type RecordRow,
  type RunRow,
  type SubjectRow,
  type TrialRow,
  toMark,
  toUndecided,
  type MarkRow,
} from './rows.ts';
import * as sql from './statements.ts';
import type { Miss, RecordKey, Store, Subject, Undecided } from '../store.ts';
import { configurationText } from '../../backend/index.ts';

export interface SqliteOptions {
  /** Change nothing. A database that nobody is writing is read as it was when it was opened. */
  readonly readonly?: boolean;
  /** Milliseconds to wait for another process's lock; 5000 when left out. */
  readonly busyTimeoutMs?: number;
  /** Clock for misses and trials; the system's when left out. */
  readonly now?: () => Date;
  /** The network file system that a path lies on, null where it is none; what the system says when left out. */
  readonly networkAt?: (path: string) => string | null;
}

/** Opens the database at `path`, creating or migrating it unless `readonly`. Opening and every method throw `StoreError`. */
export function openSqliteStore(path: string, options: SqliteOptions = {}): Store {
  const { readonly = false, busyTimeoutMs = 5000, now = () => new Date(), networkAt } = options;
  const context = { path: resolve(path), readonly, busyTimeoutMs };
  const guard = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw toStoreError(error, context);
    }
  };
  const db = guard(() => connect(context, networkAt));
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
    putRecord: (subject, { configuration, evidence, createdAt, createdBy }) => {
      write(() => {
        const id = subjectId(subject);
        statement(sql.REPLACE_RECORD).run({
          ...evidence,
          families: JSON.stringify(evidence.families),
          complete: evidence.complete ? 1 : 0,
          subject: id,
          configuration: configurationText(configuration),
          createdAt,
          createdBy,
        });
        statement(sql.DELETE_MISS).run(id);
        statement(sql.DELETE_UNDECIDED).run(id);
      });
    },
    addMarks: (subject, marks) => {
      if (marks.length === 0) return;
      write(() => {
        const id = subjectId(subject);
        for (const mark of marks) {
          const configuration = configurationText(mark.configuration);
          statement(sql.INSERT_MARK).run({ ...mark, subject: id, configuration });
        }
      });
    },
    marks: (key) => valid(read<MarkRow>(sql.SELECT_MARKS, keyOf(key)), toMark),
    addTrials: (subject, trials) => {
      if (trials.length === 0) return;
      const createdAt = now().toISOString();
      write(() => {
        const id = subjectId(subject);
        for (const trial of trials) {
          const configuration = configurationText(trial.configuration);
          statement(sql.INSERT_TRIAL).run({ ...trial, subject: id, configuration, createdAt });
        }
      });
    },
    trials: (key) => valid(read<TrialRow>(sql.SELECT_TRIALS, keyOf(key)), toTrial),
    addRuns: (subject, runs) => {
      if (runs.length === 0) return;
      write(() => {
        const id = subjectId(subject);
        for (const run of runs) {
          const { seconds, defaultSeconds } = run;
          statement(sql.INSERT_RUN).run({
            ...run,
            subject: id,
            configuration: configurationText(run.configuration),
            seconds: JSON.stringify(seconds),
            defaultSeconds: defaultSeconds && JSON.stringify(defaultSeconds),
          });
        }
      });
    },
    runs: (key) => valid(read<RunRow>(sql.SELECT_RUNS, keyOf(key)), toRun),
    noteMiss: (subject) => {
      const seenAt = now().toISOString();
      write(() => statement(sql.NOTE_MISS).run(subjectId(subject), seenAt));
    },
    misses: () => read<Miss>(sql.SELECT_MISSES),
    noteUndecided: (subject, reason, budgetSeconds) => {
      const triedAt = now().toISOString();
      write(() => {
        statement(sql.NOTE_UNDECIDED).run({ subject: subjectId(subject), reason, budgetSeconds, triedAt });
      });
    },
    findUndecided: (workloads, { target, device, compiler }) =>
      valid(
        read<Undecided>(sql.FIND_UNDECIDED, {
          workloads: JSON.stringify(workloads),
          target,
          device,
          compiler,
        }),
        toUndecided,
      ),
    subject: (key) => valid(read<SubjectRow>(sql.SELECT_SUBJECT, keyOf(key)), toSubject)[0],
    devices: () => valid(read<DeviceRow>(sql.SELECT_DEVICES), toDevice),
    nameDevice: (name, { key, form }) => {
      write(() => {
        statement(sql.upsertPart('device')).run(key, formText(form));
        statement(sql.DELETE_DEVICE_NAME).run({ name, key });
        statement(sql.INSERT_DEVICE_NAME).run({ name, key });
      });
    },
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
    const form = part === 'workload' ? storedForm(subject.workloadForm) : subject[`${part}Form`];
    statement(sql.upsertPart(part)).run(subject[part], formText(form));
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
