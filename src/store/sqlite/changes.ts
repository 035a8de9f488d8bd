// Lines for the next push to a team's server.
import type { Changes } from '../exchange/exchange.ts';
import type { Line, PartType } from '../exchange/lines.ts';
import { readValue } from '../exchange/read.ts';
import type { RecordKey } from '../store.ts';
import { RUNS_OF_TRIAL, SINCE } from './exchange-statements.ts';
import {
  claimLine,
  markLine,
  partLine,
  revocationLine,
  trialLine,
  type ExchangedTrialRow,
  type PartRow,
} from './lines.ts';
import type { ClaimRow, MarkRow, RevocationRow, RunRow } from './rows.ts';
import { selectPart, SUBJECT_PARTS } from './statements.ts';
import type { Prepare } from './write.ts';

interface Changed {
  readonly change: number;
}

const isSound = (line: Line): boolean => readValue(line).outcome === 'line';

/** The first `most` changes after `after`, with the lines of their keys. */
export function changesIn(statement: Prepare, after: number, most: number): Changes {
  const rows = <Row>(text: string) => statement(text).all({ after, most }) as (Row & Changed)[];
  const made = <Row extends Changed>(
    found: readonly Row[],
    make: (row: Row) => Line | { readonly kept: string } | undefined,
  ) => found.map((row) => ({ change: row.change, make: () => make(row) }));
  const runsOf = ({ number }: ExchangedTrialRow) => statement(RUNS_OF_TRIAL).all(number) as RunRow[];
  const formOf = (type: PartType, key: string) =>
    statement(selectPart(type)).get(key) as Pick<PartRow, 'form'>;
  const all = [
    ...made(rows<RevocationRow>(SINCE.revocation), revocationLine),
    ...made(rows<ClaimRow>(SINCE.claim), claimLine),
    ...made(rows<MarkRow & RecordKey>(SINCE.mark), markLine),
    ...made(rows<ExchangedTrialRow>(SINCE.trial), (row) => trialLine(row, runsOf(row))),
    ...made(rows<{ readonly line: string }>(SINCE.kept), ({ line }) => ({ kept: line })),
  ]
    .sort((a, b) => a.change - b.change)
    .slice(0, most);
  const found = all.map(({ make }) => make()).filter((one) => one !== undefined);
  const own = found.filter((one): one is Line => !('kept' in one)).filter(isSound);
  const parts = SUBJECT_PARTS.flatMap((type) => {
    const keys = new Set(own.flatMap((line) => (type in line ? [(line as RecordKey)[type]] : [])));
    return [...keys].map((key) => partLine(type, { key, ...formOf(type, key) }));
  });
  return {
    lines: [...parts.filter(isSound), ...own],
    kept: found.flatMap((one) => ('kept' in one ? [one.kept] : [])),
    last: all.at(-1)?.change ?? null,
  };
}
