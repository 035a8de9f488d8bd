// Converts rows to lines; undefined for an invalid row.
import type {
  ClaimLine,
  MarkLine,
  PartLine,
  PartType,
  RevocationLine,
  TrialLine,
} from '../exchange/lines.ts';
import { keysOf } from '../subject.ts';
import type { Run } from '../store.ts';
import { parseJson } from '../validate.ts';
import {
  toClaim,
  toMark,
  toOrigin,
  toRevocation,
  toRun,
  toTrial,
  type ClaimRow,
  type MarkRow,
  type RevocationRow,
  type RunRow,
  type TrialRow,
} from './rows.ts';
import type { RecordKey } from '../store.ts';

export interface PartRow {
  readonly key: string;
  readonly form: string;
}

export interface ExchangedClaimRow extends ClaimRow {
  readonly subject: number;
}

export interface ExchangedTrialRow extends TrialRow, RecordKey {
  readonly number: number;
  readonly id: string;
  readonly created_at: string;
}

export const partLine = (type: PartType, { key, form }: PartRow): PartLine => ({
  type,
  version: 1,
  key,
  form: parseJson(form),
});

export function claimLine(row: ClaimRow): ClaimLine | undefined {
  const claim = toClaim(row);
  return claim && { type: 'claim', version: 1, ...claim };
}

export function markLine(row: MarkRow & RecordKey): MarkLine | undefined {
  const mark = toMark(row);
  return mark && { type: 'mark', version: 1, ...keysOf(row), ...mark };
}

export function trialLine(row: ExchangedTrialRow, runRows: readonly RunRow[]): TrialLine | undefined {
  const trial = toTrial(row);
  if (trial === undefined) return undefined;
  const runs = runRows.flatMap((one): Omit<Run, 'configuration'>[] => {
    const { configuration, ...run } = toRun({ ...one, configuration: row.configuration }) ?? {};
    return configuration === undefined ? [] : [run as Omit<Run, 'configuration'>];
  });
  const { id, created_at: createdAt } = row;
  return { type: 'trial', version: 1, ...keysOf(row), id, ...trial, createdAt, ...toOrigin(row), runs };
}

export function revocationLine(row: RevocationRow): RevocationLine | undefined {
  const revocation = toRevocation(row);
  return revocation && { type: 'revocation', version: 1, ...revocation };
}
