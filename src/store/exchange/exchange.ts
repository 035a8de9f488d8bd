// The interface for import, export and pruning.
import type { Filter } from '../filter.ts';
import type { PartType } from '../fields.ts';
import type { Line, RevocationLine } from './lines.ts';
import type { Reading } from './read.ts';

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
export interface Exchange extends Disposable {
  /**
   * Texts of all lines without line feeds. Equal databases give the same order. Do not write through this object during the iteration.
   * @param skip receives a message for each invalid row
   * @param since ISO 8601 UTC: leaves earlier claims, marks, trials and notes out
   */
  lines(filter: Filter, skip: (reason: string) => void, since?: string): Iterable<string>;
  /** Merges lines in one transaction, except refused lines. The result does not depend on the order of lines. */
  receive(readings: readonly Reading[]): Received;
  /** Merges kept lines that this version understands. Returns their number. */
  reread(): number;
  /** Removes a revocation. @returns whether it existed */
  restore(revocation: Pick<RevocationLine, 'scope' | 'value'>): boolean;
  /** Reads every row. */
  health(): Health;
  /** Counts that `prune` would remove. */
  surplus(what: Surplus): Pruned;
  /** Removes rows. Marks and revocations stay. */
  prune(what: Surplus): Pruned;
  /** `using` closes it, too. */
  close(): void;
}
