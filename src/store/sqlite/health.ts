// Counts rows of a database, and invalid rows.
import { isRevoked } from '../claim.ts';
import type { Health } from '../exchange/exchange.ts';
import type { PartType } from '../exchange/lines.ts';
import type { RecordKey } from '../store.ts';
import { ALL, COUNT_KEPT_LINES } from './exchange-statements.ts';
import {
  claimLine,
  markLine,
  revocationLine,
  trialLine,
  type ExchangedClaimRow,
  type ExchangedTrialRow,
  type PartRow,
} from './lines.ts';
import { isSoundForm } from './parts.ts';
import { toOrigin, toRun, type MarkRow, type RevocationRow, type RunRow } from './rows.ts';
import { revocationsIn, type Prepare } from './write.ts';

/** Reads every row. */
export function healthOf(statement: Prepare): Health {
  const each = <Row>(text: string) => statement(text).iterate() as Iterable<Row>;
  const unsoundIn = <Row>(rows: Iterable<Row>, isSound: (row: Row) => boolean) => {
    let unsound = 0;
    for (const row of rows) if (!isSound(row)) unsound++;
    return unsound;
  };
  const unsoundPart = (part: PartType) =>
    unsoundIn(each<PartRow>(ALL.part(part)), ({ key, form }) => isSoundForm(part, key, form));
  const revocations = revocationsIn(statement);
  let [claims, records, revokedClaims] = [0, 0, 0];
  let last: number | undefined;
  const claim = unsoundIn(each<ExchangedClaimRow>(ALL.claim), (row) => {
    claims++;
    if (claimLine(row) === undefined) return false;
    if (isRevoked({ ...toOrigin(row), digest: row.digest }, revocations)) revokedClaims++;
    else if (row.subject !== last) {
      records++;
      last = row.subject;
    }
    return true;
  });
  return {
    records,
    claims,
    unsound: {
      claim,
      mark: unsoundIn(each<MarkRow & RecordKey>(ALL.mark), (row) => markLine(row) !== undefined),
      trial: unsoundIn(each<ExchangedTrialRow>(ALL.trial), (row) => trialLine(row, []) !== undefined),
      run: unsoundIn(each<RunRow>(ALL.run), (row) => toRun(row) !== undefined),
      revocation: unsoundIn(each<RevocationRow>(ALL.revocation), (row) => revocationLine(row) !== undefined),
      workload: unsoundPart('workload'),
      target: unsoundPart('target'),
      device: unsoundPart('device'),
      compiler: unsoundPart('compiler'),
    },
    revokedClaims,
    keptLines: statement(COUNT_KEPT_LINES).pluck().get() as number,
  };
}
