// The store in a SQLite file.
import { ownOrigin } from '../author.ts';
import { decisionAmong, type Candidate } from '../choose.ts';
import {
  compare,
  CONFIDENCE,
  countingMarks,
  digestOf,
  EVIDENCE_VERSION,
  isRevoked,
  nextGeneration,
} from '../claim.ts';
import {
  MOST_SUBJECTS,
  MOST_TRIALS,
  OTHER_COMPILER,
  OTHER_DEVICE,
  neighboursIn,
  WIDTH,
  type TrialAlike,
} from '../like.ts';
import { openDatabase, type OpenOptions } from './connect.ts';
import { keysOf } from '../subject.ts';
import {
  rowOf,
  toConfiguration,
  toDevice,
  toEffort,
  toMark,
  toRecord,
  toRun,
  toSubject,
  toTrial,
  toUndecided,
  type FoundRow,
  type RecordRow,
} from './rows.ts';
import { LONGEST_REASON, plainText, parseJson } from '../validate.ts';
import { isWorkload } from '../../workload/workload.ts';
import * as sql from './statements.ts';
import { formText, Rows } from './write.ts';
import type { KeptMark, Miss, Origin, Store, TuningRecord, Undecided } from '../store.ts';
import { configurationText } from '../../backend/index.ts';
import { shapeOf } from '../../workload/shape.ts';

export interface SqliteOptions extends OpenOptions {
  /** Clock for misses and trials; the system's by default. */
  readonly now?: () => Date;
  /** The setting: author of writes in place of the user. */
  readonly author?: string | undefined;
  /** Origin of writes; this process by default. */
  readonly origin?: Origin;
}

/** Opens the database at `path`. Creates or migrates it unless `readonly`. Opening and all methods throw `StoreError`. */
export function openSqliteStore(path: string, options: SqliteOptions = {}): Store {
  const { now = () => new Date() } = options;
  const { db, statement, guard, write } = openDatabase(path, options, sql.READS);
  const stored = new Rows(statement);
  const read = <Row = object>(text: string, ...parameters: unknown[]) =>
    guard(() => statement(text).all(...parameters) as Row[]);
  /** Rows without those of revoked origins. */
  const unrevoked = <Row extends Origin>(text: string, parameters: object): Row[] => {
    const rows = read<Row>(text, parameters);
    const revocations = rows.length === 0 ? [] : guard(() => stored.revocations());
    return revocations.length === 0 ? rows : rows.filter((row) => !isRevoked(row, revocations));
  };
  let written: Origin | undefined;
  const origin = () => (written ??= options.origin ?? ownOrigin(options.author));
  const marksOf = (subject: number, configuration: string) =>
    statement(sql.SELECT_MARKS_OF_CONFIGURATION).all(subject, configuration) as object[];
  /** Reason of the marks that forbid a claim's configuration, independent of their order; null for none. */
  const failureOf = ({ subject, configuration }: RecordRow): string | null => {
    const revocations = stored.revocations();
    const marks = marksOf(subject, configuration).map(toMark);
    const live = marks.filter((mark) => mark !== undefined && !isRevoked(mark, revocations)) as KeptMark[];
    const counting = countingMarks(live, origin());
    return counting.map(({ kind, reason }) => `${kind}: ${reason}`).sort()[0] ?? null;
  };
  const candidateOf = (row: RecordRow): Candidate => ({
    low: row.low,
    digest: row.digest,
    effort: () => toEffort(row),
    record: () => toRecord(row, failureOf),
    configuration: () => toConfiguration(row.configuration) ?? null,
  });
  /** The record of a subject from its claims; empty for none. */
  const decide = (rows: readonly RecordRow[]): TuningRecord[] => {
    const revocations = rows.some((row) => row.mayBeRevoked === 1) ? stored.revocations() : [];
    const live = rows.filter((row) => !isRevoked(row, revocations));
    const decision = decisionAmong(live.map(candidateOf));
    return decision === null ? [] : [decision];
  };
  /** Notes of this origin before others. Asks for the origin only if there is a choice. */
  const ownFirst = (rows: readonly NoteRow[]): readonly NoteRow[] => {
    if (rows.length < 2) return rows;
    const { createdBy, machine } = origin();
    const isOther = (row: NoteRow) => Number(row.createdBy !== createdBy || row.machine !== machine);
    return rows.toSorted((a, b) => isOther(a) - isOther(b));
  };
  const decideEach = (rows: readonly RecordRow[]): TuningRecord[] =>
    [...Map.groupBy(rows, ({ subject }) => subject).values()].flatMap(decide);

  return {
    findRecords: (workloads, target, compiler) =>
      guard(() => {
        const asked = [...new Set(workloads)];
        // Raw rows are faster than objects.
        const found = statement(sql.FIND_RECORDS)
          .raw()
          .all({ workloads: JSON.stringify(asked), target, compiler }) as unknown[][];
        const rows = found.map((values) => {
          const row = rowOf(sql.FOUND_NAMES, values) as unknown as FoundRow;
          return { ...row, workload: asked[row.place]!, target, compiler };
        });
        return decideEach(rows);
      }),
    findOfOtherCompilers: (workloads, target, compiler) =>
      guard(() => {
        const asked = { workloads: listOf(workloads), target, compiler };
        return decideEach(statement(sql.FIND_OF_OTHER_COMPILERS).all(asked) as RecordRow[]);
      }),
    allRecords: () =>
      guard(() =>
        Array.from(bySubject(statement(sql.ALL_RECORDS).iterate() as Iterable<RecordRow>), decide)
          .flat()
          .sort((a, b) => compare(b.createdAt, a.createdAt)),
      ),
    putRecord: (subject, { configuration, evidence, createdAt }) => {
      const claim = {
        ...keysOf(subject),
        configuration,
        evidence: { ...evidence, version: EVIDENCE_VERSION, confidence: CONFIDENCE },
        ...{ createdAt, ...origin() },
      };
      const digest = digestOf(claim);
      write(() => {
        const id = stored.insertSubject(subject);
        stored.putClaim(id, { ...claim, digest }, stored.revocations());
        stored.deleteMiss(id);
      });
    },
    addMarks: (subject, marks) => {
      if (marks.length === 0) return;
      write(() => {
        const id = stored.insertSubject(subject);
        for (const mark of marks) {
          const before = valid(marksOf(id, configurationText(mark.configuration)), toMark);
          const generation = nextGeneration(before, mark.kind);
          const reason = plainText(mark.reason, LONGEST_REASON);
          stored.putMark(id, { ...mark, reason, generation, ...origin() });
        }
      });
    },
    marks: (key) => counting(valid(unrevoked(sql.SELECT_MARKS, keysOf(key)), toMark), origin),
    revocations: () => guard(() => stored.revocations()),
    ownRevocation: () => {
      const all = guard(() => stored.revocations());
      return all.find((one) => isRevoked(origin(), [one])) ?? null;
    },
    addTrials: (subject, trials) => {
      if (trials.length === 0) return;
      const createdAt = now().toISOString();
      const { randomBytes } = process.getBuiltinModule('node:crypto');
      write(() => {
        const id = stored.insertSubject(subject);
        for (const trial of trials) {
          const message = trial.message && plainText(trial.message, LONGEST_REASON);
          const kept = { ...trial, id: randomBytes(16).toString('hex'), message, createdAt, ...origin() };
          stored.insertTrial(id, kept);
        }
      });
    },
    trials: (key) => valid(unrevoked(sql.SELECT_TRIALS, keysOf(key)), toTrial),
    trialsLike: (subject, devices) => {
      const { structure, place, sizes } = shapeOf(subject.workloadForm);
      const [batch, m, n, k] = sizes;
      const rows = unrevoked<AlikeRow>(sql.TRIALS_LIKE, {
        ...keysOf(subject),
        ...{ devices: JSON.stringify(devices), structure, place, batch, m, n, k },
        ...{ width: WIDTH, subjects: MOST_SUBJECTS, trials: MOST_TRIALS },
        ...{ otherDevice: OTHER_DEVICE, otherCompiler: OTHER_COMPILER },
      });
      const found = rows.flatMap((row) => {
        const [workload, trial] = [parseJson(row.workloadForm), toTrial(row)];
        return isWorkload(workload) && trial !== undefined ? [{ ...row, workload, trial }] : [];
      });
      return neighboursIn(found);
    },
    addRuns: (subject, runs) => {
      if (runs.length === 0) return;
      write(() => {
        const id = stored.insertSubject(subject);
        for (const run of runs) {
          const configuration = configurationText(run.configuration);
          const own = { subject: id, configuration, ...origin() };
          const trial = statement(sql.SELECT_OWN_TRIAL).pluck().get(own);
          stored.insertRun(trial, run);
        }
      });
    },
    runs: (key) => valid(unrevoked(sql.SELECT_RUNS, keysOf(key)), toRun),
    noteMiss: (subject) => {
      const seenAt = now().toISOString();
      write(() => statement(sql.NOTE_MISS).run(stored.insertSubject(subject), seenAt));
    },
    misses: () => read<Miss>(sql.SELECT_MISSES),
    noteUndecided: (subject, reason, budgetSeconds) => {
      const triedAt = now().toISOString();
      write(() => {
        statement(sql.NOTE_UNDECIDED).run({
          subject: stored.insertSubject(subject),
          reason,
          budgetSeconds,
          triedAt,
        });
      });
    },
    findUndecided: (workloads, { target, device, compiler }) =>
      valid(
        read<Undecided>(sql.FIND_UNDECIDED, { workloads: listOf(workloads), target, device, compiler }),
        toUndecided,
      ),
    hasProgramNotes: (kinds) => read(sql.HAS_PROGRAM_NOTES, { kinds: JSON.stringify(kinds) }).length > 0,
    programNotes: (kind, program) =>
      ownFirst(unrevoked<NoteRow>(sql.SELECT_PROGRAM_NOTES, { kind, program })).map(({ note }) =>
        parseJson(note),
      ),
    allProgramNotes: (kind) =>
      ownFirst(unrevoked<NoteRow>(sql.ALL_PROGRAM_NOTES, { kind })).map(({ program, note }) => ({
        program,
        note: parseJson(note),
      })),
    noteProgram: (kind, program, note) => {
      // Reasons may quote a compiler.
      const text = JSON.stringify(note, (_, value: unknown) =>
        typeof value === 'string' ? plainText(value, value.length) : value,
      );
      const row = { program, kind, note: text, writtenAt: now().toISOString(), ...origin() };
      write(() => statement(sql.PUT_NOTE).run(row));
    },
    subject: (key) => valid(read(sql.SELECT_SUBJECT, keysOf(key)), toSubject)[0],
    devices: () => valid(read(sql.SELECT_DEVICES), toDevice),
    nameDevice: (name, { key, form }) => {
      write(() => {
        if (stored.knownPart('device', key) === undefined) stored.describePart('device', key, formText(form));
        statement(sql.DELETE_DEVICE_NAME).run({ name, key });
        statement(sql.INSERT_DEVICE_NAME).run({ name, key });
      });
    },
    close: () => {
      guard(() => db.close());
    },
    [Symbol.dispose]() {
      this.close();
    },
  };
}

/** A trial of a similar subject. */
interface AlikeRow extends Origin, Omit<TrialAlike, 'workload' | 'trial'> {
  readonly workloadForm: string;
}

interface NoteRow extends Origin {
  readonly program: string;
  readonly note: string;
}

/** A parameter of statements: a JSON array without repetitions. */
const listOf = (workloads: readonly string[]): string => JSON.stringify([...new Set(workloads)]);

/** The marks of one subject that count, in their order. */
function counting(marks: readonly KeptMark[], origin: () => Origin): KeptMark[] {
  const counted = new Set(
    [...Map.groupBy(marks, ({ configuration }) => configurationText(configuration)).values()].flatMap((own) =>
      countingMarks(own, origin()),
    ),
  );
  return marks.filter((mark) => counted.has(mark));
}

/** Groups adjacent rows of one subject. */
function* bySubject(rows: Iterable<RecordRow>): Generator<RecordRow[]> {
  let own: RecordRow[] = [];
  for (const row of rows) {
    if (own.length > 0 && own[0]!.subject !== row.subject) {
      yield own;
      own = [];
    }
    own.push(row);
  }
  if (own.length > 0) yield own;
}

function valid<Row, Value>(rows: readonly Row[], convert: (row: Row) => Value | undefined): Value[] {
  return rows.map(convert).filter((value) => value !== undefined);
}
