// All of a database, in and out, beside what builds do with it.
import type { Filter } from '../filter.ts';
import type { Line, PartType, RevocationLine } from './lines.ts';
import type { Reading } from './read.ts';

/**
 * Where lines come from.
 * - `team`: what a server has told is not told to it again.
 * - `here`: what a machine says of itself is not displaced by what others say of it.
 */
export type Source = 'file' | 'team' | 'here';

/** What became of lines. */
export interface Received {
  /** That have told something new, by type. */
  readonly added: Readonly<Partial<Record<Line['type'], number>>>;
  /** That have not. */
  readonly known: number;
  /** Of later versions: kept and not read. */
  readonly kept: number;
  /** By their index. */
  readonly refused: readonly { readonly index: number; readonly reason: string }[];
}

/** What a team's server has not been told. */
export interface Changes {
  /** Ready to be received by others: what is named stands before what names it. */
  readonly lines: readonly Line[];
  /** Lines of later versions. */
  readonly kept: readonly string[];
  /** The number to go on from; null when there is nothing. */
  readonly last: number | null;
}

/** How far a team's server was read, and told what is new here. */
export interface Peer {
  /** Of the server's numbers: another one, and they start over. */
  readonly epoch: string;
  readonly pulled: number;
  readonly pushed: number;
}

/** What there is, and how much of it is not read. */
export interface Health {
  /** Subjects with a claim that is read. */
  readonly records: number;
  readonly claims: number;
  /** Rows that are not sound, by table: written by something else, or damaged. */
  readonly unsound: Readonly<Record<'claim' | 'mark' | 'trial' | 'run' | 'revocation' | PartType, number>>;
  readonly revokedClaims: number;
  readonly keptLines: number;
}

/** What may go. */
export interface Surplus {
  /** Trials that are older than this instant, ISO 8601 UTC, with their runs; none when null. */
  readonly trialsBefore: string | null;
  /** Whether claims go. */
  readonly claims: boolean;
  /** Of which subjects both. */
  readonly filter: Filter;
}

export interface Pruned {
  readonly trials: number;
  readonly runs: number;
  readonly claims: number;
}

/** Every method throws `StoreError`. */
export interface Exchange {
  /**
   * The texts of all lines, without line feeds, in an order that is the same for equal databases. Nothing may be written by
   * this object meanwhile.
   * @param skip is told of rows that are not sound
   */
  lines(filter: Filter, skip: (reason: string) => void): Iterable<string>;
  /** Merges lines in one transaction: all or none of those that are not refused. Any order of any lines gives the same. */
  receive(readings: readonly Reading[], source: Source): Received;
  /** Reads what was kept, and what this version understands of it; how many lines that are. */
  reread(): number;
  /** The next `most` changes or so after one, 0 at first. */
  changes(after: number, most: number): Changes;
  peer(server: string): Peer | null;
  setPeer(server: string, peer: Peer): void;
  /** Takes a revocation back. @returns whether there was one */
  restore(revocation: Pick<RevocationLine, 'scope' | 'value'>): boolean;
  /** Counts by looking at every row. */
  health(): Health;
  /** What would go. */
  surplus(what: Surplus): Pruned;
  /** Removes it. Marks and revocations stay. */
  prune(what: Surplus): Pruned;
  close(): void;
}
