// The interface for import, export, exchange with a server, and pruning.
import type { Filter } from '../filter.ts';
import type { PartType } from '../fields.ts';
import type { Line, RevocationLine } from './lines.ts';
import type { Reading } from './read.ts';

/**
 * Source of lines.
 * - `team`: lines of a server, which a push does not return to it.
 * - `here`: lines of this machine. Lines of others do not replace its descriptions.
 */
export type Source = 'file' | 'team' | 'here';

/** Counts of received lines. */
export interface Received {
  /** Lines with news, by type. */
  readonly added: Readonly<Partial<Record<Line['type'], number>>>;
  /** Lines without news. */
  readonly known: number;
  /** Lines of later versions, which stay unread. */
  readonly kept: number;
  /** Refused lines by index. */
  readonly refused: readonly { readonly index: number; readonly reason: string }[];
}

/** Changes for a push. */
export interface Changes {
  /** Descriptions of keys come before lines with the keys. */
  readonly lines: readonly Line[];
  /** Texts of lines of later versions. */
  readonly kept: readonly string[];
  /** Number of the last change; null for no change. */
  readonly last: number | null;
}

/** Positions of pull and push for one server. */
export interface Peer {
  /** Epoch of the server's numbers. In another epoch both start over. */
  readonly epoch: string;
  readonly pulled: number;
  readonly pushed: number;
}

/** Counts of rows, and of rows that readers skip. */
export interface Health {
  /** Subjects with a valid, unrevoked claim. */
  readonly records: number;
  readonly claims: number;
  /** Invalid rows by table: damaged, or from another program. */
  readonly unsound: Readonly<
    Record<'claim' | 'mark' | 'trial' | 'run' | 'revocation' | 'note' | PartType, number>
  >;
  readonly revokedClaims: number;
  readonly keptLines: number;
}

/** Rows to prune. */
export interface Surplus {
  /** Prune trials before this instant (ISO 8601 UTC) with their runs; null for none. */
  readonly trialsBefore: string | null;
  /** Whether to prune claims. */
  readonly claims: boolean;
  /** Subjects of both. */
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
   * Texts of all lines without line feeds. Equal databases give the same order. Do not write through this object during the iteration.
   * @param skip receives a message for each invalid row
   */
  lines(filter: Filter, skip: (reason: string) => void): Iterable<string>;
  /** Merges lines in one transaction, except refused lines. The result does not depend on the order of lines. */
  receive(readings: readonly Reading[], source: Source): Received;
  /** Merges kept lines that this version understands. Returns their number. */
  reread(): number;
  /** About `most` changes after a number, which is 0 at first. */
  changes(after: number, most: number): Changes;
  peer(server: string): Peer | null;
  setPeer(server: string, peer: Peer): void;
  /** Removes a revocation. @returns whether it existed */
  restore(revocation: Pick<RevocationLine, 'scope' | 'value'>): boolean;
  /** Reads every row. */
  health(): Health;
  /** Counts that `prune` would remove. */
  surplus(what: Surplus): Pruned;
  /** Removes rows. Marks and revocations stay. */
  prune(what: Surplus): Pruned;
  close(): void;
}
