// The interface of a tuning database.
import type { Configuration } from '../backend/configuration.ts';
import type { Workload } from '../workload/workload.ts';
import type {
  MARK_KINDS,
  NOTE_KINDS,
  PartType,
  PLACEMENTS,
  SCOPES,
  STAGES,
  TRIAL_OUTCOMES,
} from './fields.ts';
import type { Neighbour } from './like.ts';

/** Subject of a record as canonical keys. */
export type RecordKey = { readonly [Part in PartType]: string };

/** ISO 8601 UTC. */
type Instant = string;

/** Keys with their full descriptions, for showing, measuring again and merging records. */
export interface Subject extends RecordKey {
  readonly workloadForm: Workload;
  /** Plain JSON description of target, device and compiler. */
  readonly targetForm: unknown;
  readonly deviceForm: unknown;
  readonly compilerForm: unknown;
}

/** Default time divided by tuned time: above 1 is faster. */
export interface Speedup {
  readonly ratio: number;
  /** 99% confidence interval of `ratio`. */
  readonly low: number;
  readonly high: number;
}

/** Measurements behind a record. */
export interface Evidence extends Speedup {
  /** Median seconds of one execution of the default and of the configuration; their ratio is about `ratio`. */
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
  /** Trials and seconds of all searches for the subject. Unfinished searches resume. */
  readonly trials: number;
  readonly tuningSeconds: number;
  /** Families of configurations in the search space, sorted, without the default. See `familiesOf`. */
  readonly families: readonly string[];
  /** False if the search ended early (budget, interrupt), or if noise left no certain result. */
  readonly complete: boolean;
}

/** Origin of shared data. A revocation can name each field. */
export interface Origin {
  /** The setting `author`, else the user's name. */
  readonly createdBy: string;
  /** A host's name. */
  readonly machine: string;
  /** Version of iree-compile-tuned. */
  readonly tool: string;
}

/** Evidence with `EVIDENCE_VERSION` and `CONFIDENCE` of `claim.ts`. */
export interface ClaimEvidence extends Evidence {
  /** Version of measuring and judging; higher is better. */
  readonly version: number;
  /** Confidence of the interval. */
  readonly confidence: number;
}

/** Evidence for one configuration of one subject. `joined` merges two. */
export interface Claim extends RecordKey, Origin {
  readonly configuration: Configuration;
  readonly evidence: ClaimEvidence;
  readonly createdAt: Instant;
  /** 64 hexadecimal digits: see `digestOf`. */
  readonly digest: string;
}

/**
 * The winner among the claims for a key. `configuration.kind === 'default'` means that the default is best. Effort in its evidence
 * (families, trials, tuningSeconds) covers all searches for the key.
 */
export interface TuningRecord extends RecordKey, Origin {
  readonly configuration: Configuration;
  readonly evidence: Evidence;
  /** Reason of a mark, which forbids the configuration for this key; null for none. */
  readonly failure: string | null;
  readonly createdAt: Instant;
  /** Digest of the winning claim. */
  readonly digest: string;
  /** The base that has it; left out for the own database. */
  readonly base?: string;
  /** The best claim of the other sort, if any: one without needs of the whole program if the winner has them, and vice versa. See `needsOf`. */
  readonly alternative?: TuningRecord;
}

/** A claim before the store adds origin and digest. */
export type NewRecord = Pick<TuningRecord, 'configuration' | 'evidence' | 'createdAt'>;

export type TrialOutcome = (typeof TRIAL_OUTCOMES)[number];

/** One tried configuration. The store keeps all trials. */
export interface Trial {
  readonly configuration: Configuration;
  readonly outcome: TrialOutcome;
  /** Median seconds of one execution; null unless measured. */
  readonly seconds: number | null;
  /** Default time divided by this time, in the same process; null unless measured. */
  readonly ratio: number | null;
  readonly message: string | null;
  readonly strategy: string;
}

/** Times of one configuration in one process. */
export interface Run {
  /** May be the default, timed against itself. */
  readonly configuration: Configuration;
  readonly stage: (typeof STAGES)[number];
  /** Batch of the search or process of the finals, from 0 in each tuning. */
  readonly batch: number;
  /** Placement of operands in memory: see `measure/benchmark.ts`. */
  readonly placement: (typeof PLACEMENTS)[number];
  /** Number of the build, from 0. Builds differ in the order of functions. */
  readonly build: number;
  /** Median seconds of one execution at each tuned size. */
  readonly seconds: readonly number[];
  /** The default's in the same process; null if it was not measured there. */
  readonly defaultSeconds: readonly number[] | null;
}

/** A stored trial. `id` has 32 hexadecimal digits and is unique across databases. */
export interface KeptTrial extends Trial, Origin {
  readonly id: string;
  readonly createdAt: Instant;
  /** All runs of its configuration, in the order of insertion. */
  readonly runs: readonly Omit<Run, 'configuration'>[];
}

/** Fault of a configuration in a program; `lifted` removes earlier marks. */
export type MarkKind = (typeof MARK_KINDS)[number];

/** A mark, which forbids a configuration for its subject: see `isMarked`. */
export interface Mark {
  /** Never the default. */
  readonly configuration: Configuration;
  readonly kind: MarkKind;
  readonly reason: string;
  readonly createdAt: Instant;
}

/** A stored mark. */
export interface KeptMark extends Mark, Origin {
  /** From 0. A mark `lifted` opens the next generation. Only the highest counts. */
  readonly generation: number;
}

/** Hides claims, marks, trials or notes from readers. Permanent. */
export interface Revocation {
  /** Meaning of `value`: digest of a claim, version of this program, or user, machine or `user@machine`. The last two hide marks, trials and notes, too. */
  readonly scope: (typeof SCOPES)[number];
  readonly value: string;
  readonly reason: string;
  readonly createdAt: Instant;
  readonly createdBy: string;
}

/** A workload without a record after a search. */
export interface Undecided {
  readonly workload: string;
  readonly reason: string;
  /** Largest budget of an attempt, in seconds. */
  readonly budgetSeconds: number;
  readonly attempts: number;
  readonly lastTriedAt: Instant;
}

/** A counted miss, for a later populate. */
export interface Miss extends RecordKey {
  readonly count: number;
  readonly lastSeenAt: Instant;
}

/** A device in the database. */
export interface KnownDevice {
  readonly key: string;
  /** Untrusted JSON. */
  readonly form: unknown;
  /** Name from a user; null for none. */
  readonly name: string | null;
}

/** Kinds of notes: those that databases exchange, and dispatch times. Rates of devices are times, too. */
export type ProgramNoteKind = (typeof NOTE_KINDS)[number] | 'times';

/** A note that databases exchange: see `compareNotes`. */
export interface KeptNote extends Origin {
  /** See `programIdentity`. */
  readonly program: string;
  readonly kind: (typeof NOTE_KINDS)[number];
  /** Untrusted JSON. */
  readonly note: unknown;
  readonly writtenAt: Instant;
}

export interface Store extends Disposable {
  /**
   * Records of one target and compiler for workloads: the winner among the claims of each device. It is a marked one only if no other is
   * usable. Revoked claims are hidden.
   */
  findRecords(workloads: readonly string[], target: string, compiler: string): TuningRecord[];
  /** The same for all other compilers, as starting points of a search. */
  findOfOtherCompilers(workloads: readonly string[], target: string, compiler: string): TuningRecord[];
  /** Records of all subjects, the newest first. */
  allRecords(): TuningRecord[];
  /**
   * Writes a claim. It merges with a claim for the same configuration: see `joined`. The winner of `findRecords` may be another claim. The
   * subject loses its miss and its undecided state.
   */
  putRecord(subject: Subject, record: NewRecord): void;
  /** Adds marks. A mark `lifted` opens a new generation. An equal mark stays as it is. */
  addMarks(subject: Subject, marks: readonly Mark[]): void;
  /** Marks that count: see `countingMarks`. */
  marks(key: RecordKey): Mark[];
  revocations(): Pick<Revocation, 'scope' | 'value' | 'reason'>[];
  /** A revocation that covers everything this process would write, so tuning is useless; null for none. */
  ownRevocation(): Pick<Revocation, 'scope' | 'value' | 'reason'> | null;
  /** Appends trials. Call it after each batch, so that a killed search loses nothing. */
  addTrials(subject: Subject, trials: readonly Trial[]): void;
  trials(key: RecordKey): Trial[];
  /**
   * Fastest trials of workloads that differ from the subject in sizes only, for its target and any compiler: the nearest first, a few
   * subjects with a few trials each. Excludes the subject itself.
   * @param devices devices of the trials: see `siblingsOf`
   */
  trialsLike(subject: Subject, devices: readonly string[]): Neighbour[];
  /** Appends runs. Each belongs to the last trial of its configuration. */
  addRuns(subject: Subject, runs: readonly Run[]): void;
  /** All runs in the order of insertion. Every tuning begins with a trial of the default. */
  runs(key: RecordKey): Run[];
  /** Counts a miss. */
  noteMiss(subject: Subject): void;
  misses(): Miss[];
  /** Notes an attempt without a decision, and its budget in seconds. */
  noteUndecided(subject: Subject, reason: string, budgetSeconds: number): void;
  findUndecided(workloads: readonly string[], place: Omit<RecordKey, 'workload'>): Undecided[];
  /** Whether there is a note of these kinds about any program. */
  hasProgramNotes(kinds: readonly ProgramNoteKind[]): boolean;
  /** Notes about a program from running it, untrusted: this origin's first, then the latest. Revoked ones are hidden. */
  programNotes(kind: ProgramNoteKind, program: string): unknown[];
  /** All notes of a kind in the same order. */
  allProgramNotes(kind: ProgramNoteKind): { readonly program: string; readonly note: unknown }[];
  /** Replaces the note of this origin. */
  noteProgram(kind: ProgramNoteKind, program: string, note: unknown): void;
  /** Full description of a key; undefined if unknown. */
  subject(key: RecordKey): Subject | undefined;
  /** All devices in the order of their keys. */
  devices(): KnownDevice[];
  /** Names a device. A device with the same name loses it. */
  nameDevice(name: string, device: Omit<KnownDevice, 'name'>): void;
  /** `using` closes it, too. */
  close(): void;
}
