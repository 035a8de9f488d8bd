// Everything in and out of a SQLite database: exports, imports, health and pruning.
import { isRevoked } from '../claim.ts';
import type { Exchange, Health, Pruned, Surplus } from '../exchange/exchange.ts';
import { lineText, type Line } from '../exchange/lines.ts';
import { readValue } from '../exchange/read.ts';
import { PARTS, type PartType } from '../fields.ts';
import { isNarrow, type Filter } from '../filter.ts';
import { openDatabase, type OpenOptions } from './connect.ts';
import * as sql from './exchange-statements.ts';
import { LINE_TYPES, lineOf, partLine, type PartRow } from './lines.ts';
import { receiverOf, rereadKept } from './receive.ts';
import { toClaim, toMark, toNote, toRevocation, toRun, toTrial, type ClaimRow } from './rows.ts';
import { isSoundForm, Rows, type Prepare } from './write.ts';

/** Opens the database at `path`. Creates or migrates it unless `readonly`. Throws `StoreError`. */
export function openExchange(path: string, options: OpenOptions = {}): Exchange {
  const { db, statement, guard, write } = openDatabase(path, options);
  /** Keys of a later version. One object receives from one sender. */
  const laterKeys = new Set<string>();
  const each = <Row extends object>(text: string, parameters: object) =>
    statement(text).iterate(parameters) as IterableIterator<Row>;

  /** Validates a row like a received line, because readers of the file will. */
  function textOf(line: Line | undefined, row: object, skip: (reason: string) => void): string[] {
    const reading = line === undefined ? undefined : readValue(line);
    if (reading?.outcome === 'line') return [lineText(reading.line)];
    if (reading?.outcome === 'foreign') return [reading.text];
    const { workload, key, program } = row as { workload?: string; key?: string; program?: string };
    skip(`${workload ?? key ?? program ?? 'a row'}: ${reading?.reason ?? 'it is invalid'}`);
    return [];
  }

  function* lines(filter: Filter, skip: (reason: string) => void, since: string | null): Generator<string> {
    const parameters = { ...parametersOf(filter), since };
    for (const part of PARTS)
      for (const row of each<PartRow>(sql.selectParts(part), parameters))
        yield* textOf(partLine(part, row), row, skip);
    for (const type of LINE_TYPES)
      for (const row of each(sql.SORTED[type], parameters))
        yield* textOf(lineOf(type, row, statement), row, skip);
    // A filter cannot apply to lines of later versions.
    if (!isNarrow(filter)) for (const { line } of each<{ line: string }>(sql.SORTED.kept, {})) yield line;
  }

  /** Counts of each kind of rows to prune. @param countOf counts or deletes the rows of `FROM table WHERE ...` */
  const countsOf = (
    { filter, trialsBefore, claims }: Surplus,
    countOf: (rows: string, parameters: object) => number,
  ): Pruned => {
    const parameters = { ...parametersOf(filter), before: trialsBefore };
    const count = (kind: keyof Pruned, isMeant: boolean) =>
      isMeant ? countOf(sql.PRUNED[kind], parameters) : 0;
    const hasOld = trialsBefore !== null;
    return { runs: count('runs', hasOld), trials: count('trials', hasOld), claims: count('claims', claims) };
  };

  return {
    *lines(filter, skip, since) {
      // A transaction gives a consistent snapshot.
      guard(() => db.exec('BEGIN'));
      try {
        yield* lines(filter, skip, since ?? null);
      } catch (error) {
        guard(() => {
          throw error;
        });
      } finally {
        if (db.inTransaction) db.exec('COMMIT');
      }
    },
    receive: (readings) =>
      write(() => {
        const take = receiverOf(statement, laterKeys);
        const added: Partial<Record<Line['type'], number>> = {};
        const refused: { index: number; reason: string }[] = [];
        const counts = { known: 0, kept: 0 };
        for (const [index, reading] of readings.entries()) {
          const taken = take(reading);
          if (typeof taken === 'object') refused.push({ index, reason: taken.refused });
          else if (taken !== 'added') counts[taken]++;
          else if (reading.outcome === 'line') added[reading.line.type] = (added[reading.line.type] ?? 0) + 1;
        }
        return { added, ...counts, refused };
      }),
    reread: () => write(() => rereadKept(statement)),
    restore: ({ scope, value }) =>
      guard(() => statement(sql.DELETE_REVOCATION).run({ scope, value }).changes > 0),
    health: () => guard(() => healthOf(statement)),
    surplus: (what) =>
      guard(() =>
        countsOf(what, (rows, parameters) =>
          Number(statement(`SELECT count(*) ${rows}`).pluck().get(parameters)),
        ),
      ),
    prune: (what) => {
      const pruned = write(() => {
        const counts = countsOf(
          what,
          (rows, parameters) => statement(`DELETE ${rows}`).run(parameters).changes,
        );
        for (const text of sql.DELETE_UNNAMED) statement(text).run();
        return counts;
      });
      guard(() => db.exec('VACUUM'));
      return pruned;
    },
    close: () => {
      guard(() => db.close());
    },
    [Symbol.dispose]() {
      this.close();
    },
  };
}

const parametersOf = (filter: Filter) =>
  Object.fromEntries(PARTS.map((part) => [part, filter[part] ?? null]));

/** Counts rows and invalid rows. Reads every row. */
function healthOf(statement: Prepare): Health {
  /** @param read a false value or undefined for an invalid row */
  const unsoundIn = (text: string, read: (row: never) => unknown) => {
    let unsound = 0;
    for (const row of statement(text).iterate()) if (!read(row as never)) unsound++;
    return unsound;
  };
  const unsoundPart = (part: PartType) =>
    unsoundIn(`SELECT key, form FROM ${part}`, ({ key, form }: PartRow) => isSoundForm(part, key, form));
  const revocations = new Rows(statement).revocations();
  let [claims, revokedClaims] = [0, 0];
  const recorded = new Set<number>();
  const claim = unsoundIn(sql.ROWS.claim, (row: ClaimRow) => {
    claims++;
    if (toClaim(row) === undefined) return false;
    if (isRevoked(row, revocations)) revokedClaims++;
    else recorded.add(row.subject);
    return true;
  });
  return {
    records: recorded.size,
    claims,
    unsound: {
      claim,
      mark: unsoundIn(sql.ROWS.mark, toMark),
      trial: unsoundIn(sql.ROWS.trial, toTrial),
      run: unsoundIn(sql.ALL_RUNS, toRun),
      revocation: unsoundIn(sql.ROWS.revocation, toRevocation),
      note: unsoundIn(sql.ROWS.note, toNote),
      workload: unsoundPart('workload'),
      target: unsoundPart('target'),
      device: unsoundPart('device'),
      compiler: unsoundPart('compiler'),
    },
    revokedClaims,
    keptLines: statement(sql.COUNT_KEPT_LINES).pluck().get() as number,
  };
}
