// The interface of a team's server, and its answers.
import type { Processor } from '../backend/device.ts';
import type { Line } from '../store/exchange/lines.ts';
import type { Neighbour } from '../store/like.ts';
import type { RecordKey, Subject } from '../store/store.ts';

/**
 * Version of the functions' arguments and results. Servers and clients accept their own version and the one before. For others the error
 * names the side to update.
 */
export const PROTOCOL = 1;

/**
 * - `unreachable`: no answer within the limit.
 * - `denied`: wrong password or certificate; the breaker waits an hour.
 * - `incompatible`: no schema of this program, or another protocol.
 * - `rejected`: the login lacks a right, or the data breaks a constraint.
 */
export type FailureKind = 'unreachable' | 'denied' | 'incompatible' | 'rejected';

/** Why there is no answer. The reason is a message that names the server and never a password. */
export interface Failure {
  readonly kind: FailureKind;
  readonly reason: string;
}

export type Answer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** Misses of one compile: workloads for one target and compiler. */
export interface Question extends Omit<RecordKey, 'workload'> {
  readonly workloads: readonly string[];
  /** Fields that devices of the same class share, if known. */
  readonly processor?: Pick<Processor, 'architecture' | 'vendor' | 'family' | 'model'>;
}

/** Valid lines, and the number of invalid ones. */
export interface Received {
  readonly lines: readonly Line[];
  /** Texts of lines of a later version. */
  readonly later: readonly string[];
  readonly ignored: number;
}

/** Records to pull: of one target and compiler, and of one device or all. */
export interface Filter extends Pick<RecordKey, 'target' | 'compiler'> {
  readonly device?: string;
}

/** Position of a pull: change `seq` in an epoch of a server. */
export interface Cursor {
  readonly server: string;
  readonly epoch: string;
  readonly seq: number;
}

export interface Page extends Received {
  /** Where the next page starts. */
  readonly cursor: Cursor;
  readonly more: boolean;
  /** This is the first page again: the cursor had another server or epoch, or was ahead. */
  readonly restarted: boolean;
}

export interface Pushed {
  readonly server: string;
  readonly epoch: string;
  /** Numbers of changed rows. */
  readonly changed: { readonly [T in 'claims' | 'marks' | 'trials' | 'revocations']: number };
  /** Numbers of refused lines by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

export const NOTHING_PUSHED: Omit<Pushed, 'server' | 'epoch'> = {
  changed: { claims: 0, marks: 0, trials: 0, revocations: 0 },
  refused: {},
};

/** Counts of two pushes together. */
export const sumOfPushes = (a: typeof NOTHING_PUSHED, b: typeof NOTHING_PUSHED): typeof NOTHING_PUSHED => ({
  changed: sumOf(a.changed, b.changed),
  refused: sumOf(a.refused, b.refused),
});

function sumOf<T extends Readonly<Record<string, number>>>(a: T, b: T): T {
  const counts = Object.keys({ ...a, ...b }).map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]);
  return Object.fromEntries(counts) as T;
}

export interface ServerStatus {
  readonly server: string;
  readonly epoch: string;
  readonly protocol: number;
  /** Number of the schema's last migration. */
  readonly version: number;
  readonly login: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<string, number>>;
}

/** A page of demands, with the lines that describe their keys. */
export interface Demands extends Received {
  readonly demands: readonly Demand[];
  /** Whether there is a next page. */
  readonly more: boolean;
}

/** A miss of builds. */
export interface Demand extends Pick<RecordKey, 'workload' | 'device'> {
  /** Number of builds that asked for it. */
  readonly builds: number;
  /** Why no worker can do it; null if a worker may. */
  readonly refused: string | null;
}

/** Heartbeat of a worker. */
export interface Attendance extends Omit<RecordKey, 'workload'> {
  /** A UUID, new at each start. */
  readonly id: string;
  readonly person: string;
  readonly machine: string;
  readonly tool: string;
  /** Activity, for `iree-tuned team queue`. */
  readonly state: string;
  /** Key of its current workload; null for none. */
  readonly holds: string | null;
  /** Number of completed jobs. */
  readonly finished: number;
}

/** A worker in the server's list. Ages are in seconds. */
export interface KnownWorker extends Attendance {
  readonly login: string;
  /** Age of its state. */
  readonly since: number;
  readonly started: number;
  /** Age of its last heartbeat. */
  readonly seen: number;
}

/** A demand that no worker can do. */
export interface Refused extends RecordKey {
  readonly builds: number;
  readonly reason: string;
}

export interface FleetState {
  readonly workers: readonly KnownWorker[];
  /** Number of demands that workers can do. */
  readonly wanted: number;
  readonly refused: readonly Refused[];
}

/**
 * Each call ends within its limit in milliseconds, name look-up, TLS and login included, and never throws. A call waits for the calls before
 * it. Its limit begins after that.
 */
export interface Team {
  /** Records, marks and descriptions of these workloads, in one statement. */
  ask(question: Question, limitMs: number): Promise<Answer<Received>>;
  /** Identity and epoch of the server. */
  identify(limitMs: number): Promise<Answer<Pick<Cursor, 'server' | 'epoch'>>>;
  /** One page of changes since the cursor; from the start for null. */
  pull(filter: Filter, cursor: Cursor | null, limitMs: number): Promise<Answer<Page>>;
  /** Sends lines. The subject of a line must come before it, or be on the server. A refused line does not affect the others. */
  push(lines: readonly Line[], limitMs: number): Promise<Answer<Pushed>>;
  /** Raises demands. The lines describe the parts of the subjects. */
  want(
    parts: readonly Line[],
    subjects: readonly RecordKey[],
    limitMs: number,
  ): Promise<Answer<{ wanted: number }>>;
  /** Revokes at once. Returns the number of all revoked claims on the server. */
  revoke(revocation: Line & { type: 'revocation' }, limitMs: number): Promise<Answer<{ revoked: number }>>;
  /** All pushed trials of one subject, without their runs. */
  trials(key: RecordKey, limitMs: number): Promise<Answer<Received>>;
  /** Like `Store.trialsLike`, for the trials on the server, from devices with such a processor. */
  trialsLike(
    subject: Omit<Subject, 'targetForm' | 'compilerForm'>,
    limitMs: number,
  ): Promise<Answer<Neighbour[]>>;
  status(limitMs: number): Promise<Answer<ServerStatus>>;
  /** A page of demands for a target and compiler, the most wanted first, from the offset `skip`. */
  demands(
    place: Pick<RecordKey, 'target' | 'compiler'> & { readonly workload?: string; readonly skip?: number },
    limitMs: number,
  ): Promise<Answer<Demands>>;
  /** Ends demands, or with a reason marks them as refused. */
  settle(
    subjects: readonly RecordKey[],
    refused: string | null,
    limitMs: number,
  ): Promise<Answer<{ settled: number }>>;
  /** Sends a heartbeat. */
  attend(worker: Attendance, limitMs: number): Promise<Answer<{ attended: number }>>;
  leave(worker: Pick<Attendance, 'id'>, limitMs: number): Promise<Answer<{ left: number }>>;
  fleet(limitMs: number): Promise<Answer<FleetState>>;
  close(): void;
}
