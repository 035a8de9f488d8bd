// The one interface behind which tuning databases stand.
import type { Configuration } from '../backend/configuration.ts';
import type { Workload } from '../workload/workload.ts';
import type { Neighbour } from './like.ts';

/** What a record is about. Each part is the canonical key of its kind. */
export interface RecordKey {
  readonly workload: string;
  readonly target: string;
  readonly device: string;
  readonly compiler: string;
}

/** Full descriptions behind the keys, kept so that a record can be shown, re-measured and merged. */
export interface Subject extends RecordKey {
  readonly workloadForm: Workload;
  /** Plain JSON description of target, device and compiler. */
  readonly targetForm: unknown;
  readonly deviceForm: unknown;
  readonly compilerForm: unknown;
}

/** Default time over tuned time: above 1 is faster. */
export interface Speedup {
  readonly ratio: number;
  /** 99% confidence interval of `ratio`. */
  readonly low: number;
  readonly high: number;
}

/** Why a record's configuration is believed. */
export interface Evidence extends Speedup {
  /** Median seconds of one execution of the default and of the configuration. */
  readonly defaultSeconds: number;
  readonly seconds: number;
  /** Separate benchmark processes in which the pair was measured. */
  readonly processes: number;
  /** Timed repetitions of each side over all processes. */
  readonly repetitions: number;
  /** Largest relative distance of the default in one process from its median: 0.01 is 1%. */
  readonly noiseFloor: number;
  /** Largest absolute difference between the outputs of default and configuration. */
  readonly maxError: number;
  /** Of all searches that led to it: what found nothing and did not end is gone on with. */
  readonly trials: number;
  readonly tuningSeconds: number;
  /** Kinds of configurations that the search could choose from beside the default, sorted. See `familiesOf`. */
  readonly families: readonly string[];
  /**
   * False when the budget ended or the user interrupted before the search was done, or when the machine was too noisy to
   * tell whether anything is faster than the default.
   */
  readonly complete: boolean;
}

/** Where something was found out. It is written with everything that is shared, and may be revoked by each of them. */
export interface Origin {
  /** A user's name. */
  readonly createdBy: string;
  /** A host's name. */
  readonly machine: string;
  /** Version of iree-compile-tuned. */
  readonly tool: string;
}

/** What a claim says of itself beside its evidence: see `EVIDENCE_VERSION` and `CONFIDENCE` in `claim.ts`. */
export interface ClaimEvidence extends Evidence {
  /** Of the way in which it was measured and judged; higher is better. */
  readonly version: number;
  /** Of the interval. */
  readonly confidence: number;
}

/** Evidence for one configuration of one subject. Two of them merge by `joined`. */
export interface Claim extends RecordKey, Origin {
  readonly configuration: Configuration;
  readonly evidence: ClaimEvidence;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** 64 hexadecimal digits: see `digestOf`. */
  readonly digest: string;
}

/**
 * The decision for one key: the winner among its claims. `configuration.kind === 'default'` says that the default is best.
 * What its evidence says of effort (families, trials, tuningSeconds) is of all searches for the key.
 */
export interface TuningRecord extends RecordKey, Origin {
  readonly configuration: Configuration;
  readonly evidence: Evidence;
  /** Why the configuration is marked, which is then never used again for this key; null when it is not. */
  readonly failure: string | null;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** Of the winning claim. */
  readonly digest: string;
  /**
   * The best claim of the other sort, where there is one: where the winner asks something of the whole program, one that does
   * not, and the other way round. See `needsOf`.
   */
  readonly alternative?: TuningRecord;
}

/** What is put into a store as a claim, which knows the rest. */
export type NewRecord = Pick<TuningRecord, 'configuration' | 'evidence' | 'createdAt' | 'createdBy'>;

export type TrialOutcome = 'measured' | 'compile-error' | 'run-error' | 'timeout' | 'wrong-result';

/** One tried configuration; always kept, whatever came of it. */
export interface Trial {
  readonly configuration: Configuration;
  readonly outcome: TrialOutcome;
  /** Median seconds of one execution; null unless measured. */
  readonly seconds: number | null;
  /** Default time over this time in the same process; null unless measured. */
  readonly ratio: number | null;
  readonly message: string | null;
  readonly strategy: string;
}

/** One configuration in one process in which it was timed. */
export interface Run {
  /** The default too, timed against itself. */
  readonly configuration: Configuration;
  readonly stage: 'search' | 'finals';
  /** Of the search, or process of the finals: counted from 0 in each tuning. */
  readonly batch: number;
  /** How operands lay in memory, as `measure/benchmark.ts` says. */
  readonly placement: 'apart' | 'packed';
  /** Builds of the same functions in another order, counted from 0. */
  readonly build: number;
  /** Median of one execution, at each size that the workload is tuned at. */
  readonly seconds: readonly number[];
  /** Of the default in the same process; null where it was not in it. */
  readonly defaultSeconds: readonly number[] | null;
}

/** A trial as it is kept. Ids tell trials apart wherever they come from: 32 hexadecimal digits. */
export interface KeptTrial extends Trial, Origin {
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** All of its configuration, in the order in which they were added. */
  readonly runs: readonly Omit<Run, 'configuration'>[];
}

/** What a configuration was found to do in a program; or that somebody who answers for it takes its marks back. */
export type MarkKind = 'compile-error' | 'wrong-result' | 'slower' | 'lifted';

/** A configuration that is never used again for its subject, whatever records and trials say; see `isMarked`. */
export interface Mark {
  /** Not the default, which nobody can do without. */
  readonly configuration: Configuration;
  readonly kind: MarkKind;
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly createdBy: string;
}

/** A mark as it is kept. */
export interface KeptMark extends Mark, Origin {
  /** From 0. A lifted mark opens the next one, and only those of the highest count. */
  readonly generation: number;
}

/** Says that something is not to be read any more. Only ever added. */
export interface Revocation {
  /**
   * What `value` is: the digest of a claim; a version of iree-compile-tuned; or a user's or a machine's name, or both as
   * `user@machine`. By the latter two marks and trials go, too.
   */
  readonly scope: 'record' | 'tool' | 'origin';
  readonly value: string;
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly createdBy: string;
}

/** What tuning could not decide about, for as long as it has no record. */
export interface Undecided {
  readonly workload: string;
  readonly reason: string;
  /** The most seconds that one attempt was given. */
  readonly budgetSeconds: number;
  readonly attempts: number;
  /** ISO 8601 UTC. */
  readonly lastTriedAt: string;
}

/** A miss noted for a later populate. */
export interface Miss extends RecordKey {
  readonly count: number;
  readonly lastSeenAt: string;
}

/** A device that something was measured on, or missed for. */
export interface KnownDevice {
  readonly key: string;
  /** Plain JSON, which anybody may have written. */
  readonly form: unknown;
  /** What people call it; null where nobody gave it a name. */
  readonly name: string | null;
}

/** About the configurations that a program keeps, or the forms that it is compiled in. */
export type ProgramNoteKind = 'program' | 'forms' | 'times';

export interface Store {
  /**
   * Records of one target and compiler for these workloads: for each device the winner among its claims, one whose
   * configuration is marked only where no other claim may be used. What is revoked is not read.
   */
  findRecords(workloads: readonly string[], target: string, compiler: string): TuningRecord[];
  /** The same for every compiler but this one: a place to begin. */
  findOfOtherCompilers(workloads: readonly string[], target: string, compiler: string): TuningRecord[];
  /** Every record, newest first: one for each subject, as `findRecords` gives it. */
  allRecords(): TuningRecord[];
  /**
   * Writes a claim for its configuration, beside those for others; of two for the same one, the better evidence stays, and
   * the effort of both: see `joined`. So what is put does not always win: `findRecords` says what does. The subject is
   * neither missed nor undecided any more.
   */
  putRecord(subject: Subject, record: NewRecord): void;
  /**
   * Marks configurations, until somebody lifts that: a mark of the kind `lifted` opens a new generation, and only marks of
   * the latest one count. One that is marked in this way already stays as it is.
   */
  addMarks(subject: Subject, marks: readonly Mark[]): void;
  /** Those that count: see `countingMarks`. */
  marks(key: RecordKey): Mark[];
  /** A revocation of all that this process writes, which nobody would read: nothing need be tuned. Null when there is none. */
  ownRevocation(): Pick<Revocation, 'scope' | 'value' | 'reason'> | null;
  /** Appends trials at once, so that a killed search loses nothing it has measured. */
  addTrials(subject: Subject, trials: readonly Trial[]): void;
  trials(key: RecordKey): Trial[];
  /**
   * The fastest trials of workloads that differ from a subject's in sizes only, for its target, whichever compiler they were
   * measured with: the most alike first, a few subjects and a few trials of each. The subject's own are not among them.
   * @param devices on which they were measured: see `siblingsOf`
   */
  trialsLike(subject: Subject, devices: readonly string[]): Neighbour[];
  /** Appends runs of configurations that have trials: each belongs to the last one of its configuration. */
  addRuns(subject: Subject, runs: readonly Run[]): void;
  /** All runs, in the order in which they were added. Every tuning begins with a trial of the default. */
  runs(key: RecordKey): Run[];
  /** Notes a workload that had no record. */
  noteMiss(subject: Subject): void;
  misses(): Miss[];
  /** Notes an attempt that came to no decision, and the seconds that it was given. */
  noteUndecided(subject: Subject, reason: string, budgetSeconds: number): void;
  /** What is undecided of these workloads. */
  findUndecided(workloads: readonly string[], place: Omit<RecordKey, 'workload'>): Undecided[];
  /** What was found out about a program by running it, as anybody may have written it; null when nothing was. */
  programNote(kind: ProgramNoteKind, program: string): unknown;
  /** Takes the place of what was noted before. */
  noteProgram(kind: ProgramNoteKind, program: string, note: unknown): void;
  /** Full description of a key, for re-measuring; undefined when unknown. */
  subject(key: RecordKey): Subject | undefined;
  /** Every device, by key. */
  devices(): KnownDevice[];
  /** Gives a device a name, in place of the one that it had; whatever had that name has none. */
  nameDevice(name: string, device: Omit<KnownDevice, 'name'>): void;
  /** Adds to named counters, creating them at need. */
  count(increments: Readonly<Record<string, number>>): void;
  counters(): Record<string, number>;
  /** Removes all counters and returns what they were, in one step. */
  zeroCounters(): Record<string, number>;
  close(): void;
}
