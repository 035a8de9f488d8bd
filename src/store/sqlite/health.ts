// Counts rows of a database, and invalid rows.
import { isRevoked } from '../claim.ts';
import type { Health } from '../exchange/exchange.ts';
import type { PartType } from '../fields.ts';
import { ALL_RUNS, COUNT_KEPT_LINES, ROWS } from './exchange-statements.ts';
import type { PartRow } from './lines.ts';
import { isSoundForm } from './parts.ts';
import { toClaim, toMark, toRevocation, toRun, toTrial, type ClaimRow } from './rows.ts';
import { revocationsIn, type Prepare } from './write.ts';

/** Reads every row. */
export function healthOf(statement: Prepare): Health {
  /** @param read a false value or undefined for an invalid row */
  const unsoundIn = (text: string, read: (row: never) => unknown) => {
    let unsound = 0;
    for (const row of statement(text).iterate()) if (!read(row as never)) unsound++;
    return unsound;
  };
  const unsoundPart = (part: PartType) =>
    unsoundIn(`SELECT key, form FROM ${part}`, ({ key, form }: PartRow) => isSoundForm(part, key, form));
  const revocations = revocationsIn(statement);
  let [claims, revokedClaims] = [0, 0];
  const recorded = new Set<number>();
  const claim = unsoundIn(ROWS.claim, (row: ClaimRow) => {
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
      mark: unsoundIn(ROWS.mark, toMark),
      trial: unsoundIn(ROWS.trial, toTrial),
      run: unsoundIn(ALL_RUNS, toRun),
      revocation: unsoundIn(ROWS.revocation, toRevocation),
      workload: unsoundPart('workload'),
      target: unsoundPart('target'),
      device: unsoundPart('device'),
      compiler: unsoundPart('compiler'),
    },
    revokedClaims,
    keptLines: statement(COUNT_KEPT_LINES).pluck().get() as number,
  };
}
