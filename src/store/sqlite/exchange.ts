// Imports, exports and pruning of a SQLite database.
import { resolve } from 'node:path';
import { guardedBy, toStoreError } from '../errors.ts';
import type { Exchange, Peer, Pruned, Surplus } from '../exchange/exchange.ts';
import type { Line } from '../exchange/lines.ts';
import { readValue } from '../exchange/read.ts';
import { lineText } from '../exchange/write.ts';
import { isNarrow, type Filter } from '../filter.ts';
import type { RecordKey } from '../store.ts';
import { changesIn } from './changes.ts';
import { connect } from './connect.ts';
import * as exchange from './exchange-statements.ts';
import {
  claimLine,
  markLine,
  partLine,
  revocationLine,
  trialLine,
  type ExchangedClaimRow,
  type ExchangedTrialRow,
  type PartRow,
} from './lines.ts';
import { healthOf } from './health.ts';
import { preparedOnce } from './prepared.ts';
import { Receiver } from './receive.ts';
import { rereadKept } from './reread.ts';
import type { MarkRow, RevocationRow, RunRow } from './rows.ts';
import { SUBJECT_PARTS } from './statements.ts';

export interface ExchangeOptions {
  readonly readonly?: boolean;
  /** Time limit for another process's lock, in milliseconds; 5000 by default. */
  readonly busyTimeoutMs?: number;
  /** Folder for the migrated copy of a read-only database with an older schema; in memory by default. */
  readonly copyInto?: string;
  /** Receives a message after a migration. */
  readonly onMigrated?: (message: string) => void;
}

/** Opens the database at `path`. Creates or migrates it unless `readonly`. Throws `StoreError`. */
export function openSqliteExchange(path: string, options: ExchangeOptions = {}): Exchange {
  const { readonly = false, busyTimeoutMs = 5000, copyInto, onMigrated } = options;
  const context = { path: resolve(path), readonly, busyTimeoutMs };
  const guard = guardedBy(context);
  const db = guard(() => connect(context, { copyInto, onMigrated }));
  const statement = preparedOnce(db);
  /** Keys of a later version. One object receives from one sender. */
  const laterKeys = new Set<string>();
  const each = <Row>(text: string, ...parameters: unknown[]) =>
    statement(text).iterate(...parameters) as IterableIterator<Row>;
  const runsOf = ({ number }: ExchangedTrialRow) => statement(exchange.RUNS_OF_TRIAL).all(number) as RunRow[];
  const count = (text: string, parameters: object) => statement(text).pluck().get(parameters) as number;
  const transaction = <T>(action: () => T) => guard(() => db.transaction(action).immediate());

  /** Validates a row like a received line, because readers of the file will. */
  function textOf(line: Line | undefined, row: object, skip: (reason: string) => void): string[] {
    const reading = line === undefined ? undefined : readValue(line);
    if (reading?.outcome === 'line') return [lineText(reading.line)];
    if (reading?.outcome === 'foreign') return [reading.text];
    const { workload, key } = row as { workload?: string; key?: string };
    skip(`${workload ?? key ?? 'a row'}: ${reading?.reason ?? 'it is invalid'}`);
    return [];
  }

  function* lines(filter: Filter, skip: (reason: string) => void): Generator<string> {
    const parameters = parametersOf(filter);
    for (const part of SUBJECT_PARTS)
      for (const row of each<PartRow>(exchange.selectParts(part), parameters))
        yield* textOf(partLine(part, row), row, skip);
    for (const row of each<RevocationRow>(exchange.SORTED.revocation))
      yield* textOf(revocationLine(row), row, skip);
    for (const row of each<ExchangedClaimRow>(exchange.SORTED.claim, parameters))
      yield* textOf(claimLine(row), row, skip);
    for (const row of each<MarkRow & RecordKey>(exchange.SORTED.mark, parameters))
      yield* textOf(markLine(row), row, skip);
    for (const row of each<ExchangedTrialRow>(exchange.SORTED.trial, parameters))
      yield* textOf(trialLine(row, runsOf(row)), row, skip);
    // A filter cannot apply to lines of later versions.
    if (!isNarrow(filter)) for (const { line } of each<{ line: string }>(exchange.SORTED.kept)) yield line;
  }

  function countsOf(what: Surplus): Pruned {
    const parameters = parametersOf(what.filter);
    const before = what.trialsBefore;
    return {
      trials: before === null ? 0 : count(exchange.COUNT_OLD_TRIALS, { ...parameters, before }),
      runs: before === null ? 0 : count(exchange.COUNT_OLD_RUNS, { ...parameters, before }),
      claims: what.claims ? count(exchange.COUNT_CLAIMS, parameters) : 0,
    };
  }

  return {
    *lines(filter, skip) {
      // A transaction gives a consistent snapshot.
      guard(() => db.exec('BEGIN'));
      try {
        yield* lines(filter, skip);
      } catch (error) {
        throw toStoreError(error, context);
      } finally {
        if (db.inTransaction) db.exec('COMMIT');
      }
    },
    receive: (readings, source) =>
      transaction(() => {
        const receiver = new Receiver(statement, source, laterKeys);
        const added: Partial<Record<Line['type'], number>> = {};
        const refused: { index: number; reason: string }[] = [];
        const counts = { known: 0, kept: 0 };
        for (const [index, reading] of readings.entries()) {
          const taken = receiver.take(reading);
          if (typeof taken === 'object') refused.push({ index, reason: taken.refused });
          else if (taken !== 'added') counts[taken]++;
          else if (reading.outcome === 'line') added[reading.line.type] = (added[reading.line.type] ?? 0) + 1;
        }
        return { added, ...counts, refused };
      }),
    reread: () => transaction(() => rereadKept(statement)),
    changes: (after, most) => guard(() => changesIn(statement, after, most)),
    peer: (server) => guard(() => (statement(exchange.SELECT_PEER).get(server) as Peer | undefined) ?? null),
    setPeer: (server, peer) => {
      guard(() => statement(exchange.PUT_PEER).run({ ...peer, server }));
    },
    restore: ({ scope, value }) =>
      guard(() => statement(exchange.DELETE_REVOCATION).run({ scope, value }).changes > 0),
    health: () => guard(() => healthOf(statement)),
    surplus: (what) => guard(() => countsOf(what)),
    prune: (what) => {
      const parameters = parametersOf(what.filter);
      const pruned = transaction(() => {
        const counts = countsOf(what);
        if (what.trialsBefore !== null) {
          const old = { ...parameters, before: what.trialsBefore };
          for (const text of [exchange.DELETE_OLD_RUNS, exchange.DELETE_OLD_TRIALS]) statement(text).run(old);
        }
        if (what.claims) statement(exchange.DELETE_CLAIMS).run(parameters);
        for (const text of exchange.DELETE_UNNAMED) statement(text).run();
        return counts;
      });
      guard(() => db.exec('VACUUM'));
      return pruned;
    },
    close: () => {
      guard(() => db.close());
    },
  };
}

const parametersOf = ({ workload, target, device, compiler }: Filter) => ({
  workload: workload ?? null,
  target: target ?? null,
  device: device ?? null,
  compiler: compiler ?? null,
});
