// A team's server, as the rest of the program sees it: what it is asked, and what may come of that.
import type { Processor } from '../backend/device.ts';
import type { Line } from '../store/exchange/lines.ts';
import type { Neighbour } from '../store/like.ts';
import type { RecordKey, Subject } from '../store/store.ts';

/**
 * What the functions of the server's schema take and give. A server serves clients of its own number and of the one before; a client asks
 * servers of its own number and of the one before. Everybody else is told what to update.
 */
export const PROTOCOL = 1;

/**
 * - `unreachable`: no answer within the time there was, or none at all.
 * - `denied`: a wrong password or certificate; tried again after an hour.
 * - `incompatible`: it has no schema of ours, or speaks no protocol of ours.
 * - `rejected`: it does not take what it was sent; by permission, or because it breaks a constraint.
 */
export type FailureKind = 'unreachable' | 'denied' | 'incompatible' | 'rejected';

/** Why there is no answer. The reason is a sentence for people, which names the server and never a password. */
export interface Failure {
  readonly kind: FailureKind;
  readonly reason: string;
}

/** Nothing here throws: whoever asks goes on with what he has. */
export type Answer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** What one compile misses: workloads for one target and compiler. */
export interface Question extends Omit<RecordKey, 'workload'> {
  readonly workloads: readonly string[];
  /** Of the device: what those of its class have in common, where it is known. */
  readonly processor?: Pick<Processor, 'architecture' | 'vendor' | 'family' | 'model'>;
}

/** Lines that were understood, and how many were not. */
export interface Received {
  readonly lines: readonly Line[];
  /** Texts of lines that only a later version of this program understands. */
  readonly later: readonly string[];
  readonly ignored: number;
}

/** Which records are pulled: of one target and compiler, on one device or, without it, on any. */
export interface Filter extends Pick<RecordKey, 'target' | 'compiler'> {
  readonly device?: string;
}

/** How far somebody has pulled: up to the change `seq` of an epoch of a server. */
export interface Cursor {
  readonly server: string;
  readonly epoch: string;
  readonly seq: number;
}

export interface Page extends Received {
  /** What to go on from. */
  readonly cursor: Cursor;
  readonly more: boolean;
  /** The cursor was of another server or epoch, or ahead: this page is the first one again. */
  readonly restarted: boolean;
}

export interface Pushed {
  readonly server: string;
  readonly epoch: string;
  /** Rows that are another than before. */
  readonly changed: { readonly [T in 'claims' | 'marks' | 'trials' | 'revocations']: number };
  /** Lines that were not taken, by the reason. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface ServerStatus {
  readonly server: string;
  readonly epoch: string;
  readonly protocol: number;
  /** Of the schema: the number of the last migration. */
  readonly version: number;
  readonly login: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<string, number>>;
}

/** Subjects that somebody wants, and what their keys stand for. */
export interface Demands extends Received {
  readonly demands: readonly Demand[];
  /** Whether there are others after these. */
  readonly more: boolean;
}

/** What builds miss, of one target and compiler. */
export interface Demand extends Pick<RecordKey, 'workload' | 'device'> {
  /** How many have asked for it. */
  readonly builds: number;
  /** Why no worker can do it, as it stands there; null where nobody has said so. */
  readonly refused: string | null;
}

/** What a worker says of itself. */
export interface Attendance extends Omit<RecordKey, 'workload'> {
  /** A UUID, another one each time that a worker starts. */
  readonly id: string;
  readonly person: string;
  readonly machine: string;
  readonly tool: string;
  /** A few words for people. */
  readonly state: string;
  /** The workload that it has taken; null for none. */
  readonly holds: string | null;
  /** Jobs that it has done. */
  readonly finished: number;
}

/** A worker as the server knows it; ages are in seconds. */
export interface KnownWorker extends Attendance {
  readonly login: string;
  /** For how long it has been doing what it does. */
  readonly since: number;
  readonly started: number;
  /** When it was last heard of. */
  readonly seen: number;
}

/** A demand that no worker can do. */
export interface Refused extends RecordKey {
  readonly builds: number;
  readonly reason: string;
}

export interface FleetState {
  readonly workers: readonly KnownWorker[];
  /** Demands that workers can do. */
  readonly wanted: number;
  readonly refused: readonly Refused[];
}

/**
 * Each call ends within its limit, in milliseconds, however the server behaves: DNS, TLS, login and query included. One call
 * at a time: the next one begins when the one before has ended.
 */
export interface Team {
  /** All that is known of these workloads, in one statement. */
  ask(question: Question, limitMs: number): Promise<Answer<Received>>;
  /** Which server this is, in which epoch. */
  identify(limitMs: number): Promise<Answer<Pick<Cursor, 'server' | 'epoch'>>>;
  /** One page of what has changed since the cursor; of everything without one. */
  pull(filter: Filter, cursor: Cursor | null, limitMs: number): Promise<Answer<Page>>;
  /** What lines name stands before them, or is known there. Of a line that the server does not take, the others are not harmed. */
  push(lines: readonly Line[], limitMs: number): Promise<Answer<Pushed>>;
  /** Raises the demand for subjects, whose parts are among the lines. */
  want(
    parts: readonly Line[],
    subjects: readonly RecordKey[],
    limitMs: number,
  ): Promise<Answer<{ wanted: number }>>;
  /** Revokes at once; the number of all claims that are revoked there now. */
  revoke(revocation: Line & { type: 'revocation' }, limitMs: number): Promise<Answer<{ revoked: number }>>;
  /** All trials of one subject that anybody has pushed, without their runs. */
  trials(key: RecordKey, limitMs: number): Promise<Answer<Received>>;
  /** The same as `Store.trialsLike`, with all that anybody has pushed; devices are those with such a processor. */
  trialsLike(
    subject: Omit<Subject, 'targetForm' | 'compilerForm'>,
    limitMs: number,
  ): Promise<Answer<Neighbour[]>>;
  status(limitMs: number): Promise<Answer<ServerStatus>>;
  /** A page of what is wanted, what is wanted most first: of one target and compiler, of one workload perhaps, without the first `skip`. */
  demands(
    place: Pick<RecordKey, 'target' | 'compiler'> & { readonly workload?: string; readonly skip?: number },
    limitMs: number,
  ): Promise<Answer<Demands>>;
  /** Ends the demand for subjects; with a reason they stay, and have that. */
  settle(
    subjects: readonly RecordKey[],
    refused: string | null,
    limitMs: number,
  ): Promise<Answer<{ settled: number }>>;
  /** To be said every few seconds. */
  attend(worker: Attendance, limitMs: number): Promise<Answer<{ attended: number }>>;
  leave(worker: Pick<Attendance, 'id'>, limitMs: number): Promise<Answer<{ left: number }>>;
  fleet(limitMs: number): Promise<Answer<FleetState>>;
  close(): void;
}
