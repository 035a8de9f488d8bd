// Writing what merges. All of it runs inside the caller's transaction.
import type { Statement } from 'better-sqlite3';
import { configurationText } from '../../backend/index.ts';
import { storedForm } from '../../workload/workload.ts';
import { joinedUnder } from '../claim.ts';
import type { Claim, KeptMark, RecordKey, Revocation, Subject } from '../store.ts';
import { keysOf } from '../subject.ts';
import { describePart } from './parts.ts';
import { toClaim, toRevocation, type ClaimRow, type RevocationRow } from './rows.ts';
import * as sql from './statements.ts';

export type Prepare = (text: string) => Statement;

/** Row id of the subject, with everything it refers to in place. */
export function insertSubject(statement: Prepare, subject: Subject): number {
  for (const part of sql.SUBJECT_PARTS) {
    const form = part === 'workload' ? storedForm(subject.workloadForm) : subject[`${part}Form`];
    describePart(statement, part, subject[part], formText(form));
  }
  return insertKnownSubject(statement, subject)!;
}

/** The same where everything that it refers to is there; undefined where it is not. */
export function insertKnownSubject(statement: Prepare, subject: RecordKey): number | undefined {
  const key = keysOf(subject);
  statement(sql.INSERT_SUBJECT).run(key);
  return (statement(sql.SELECT_SUBJECT_ID).get(key) as { id: number } | undefined)?.id;
}

/** JSON has no `undefined`, which `unknown` admits. */
export function formText(form: unknown): string {
  return JSON.stringify(form ?? null);
}

/** The number of a change that a team's server is to be told. */
export const nextChange = (statement: Prepare): number =>
  (statement(sql.NEXT_CHANGE).get() as { last: number }).last;

/** Those that are sound: the others revoke nothing. */
export const revocationsIn = (statement: Prepare): Revocation[] =>
  (statement(sql.SELECT_REVOCATIONS).all() as RevocationRow[])
    .map(toRevocation)
    .filter((one) => one !== undefined);

/**
 * Merges a claim with the one that there is for its configuration. A damaged row counts as none.
 * @param isShared whether a team's server knows this claim
 * @returns whether anything has changed
 */
export function putClaim(
  statement: Prepare,
  subject: number,
  claim: Claim,
  revocations: readonly Pick<Revocation, 'scope' | 'value'>[],
  isShared: boolean,
): boolean {
  const configuration = configurationText(claim.configuration);
  const row = statement(sql.SELECT_CLAIM).get(subject, configuration) as ClaimRow | undefined;
  const before = row && toClaim(row);
  const after = before === undefined ? claim : joinedUnder(before, claim, revocations);
  if (before !== undefined && isSameClaim(before, after)) return false;
  const { evidence, createdAt, createdBy, machine, tool, digest } = after;
  statement(sql.PUT_CLAIM).run({
    ...evidence,
    families: JSON.stringify(evidence.families),
    complete: evidence.complete ? 1 : 0,
    ...{ subject, configuration, createdAt, createdBy, machine, tool, digest },
    change: isShared && isSameClaim(after, claim) ? null : nextChange(statement),
  });
  return true;
}

/** Of one subject and configuration. */
function isSameClaim(a: Claim, b: Claim): boolean {
  const [x, y] = [a.evidence, b.evidence];
  return (
    a.digest === b.digest &&
    x.trials === y.trials &&
    x.tuningSeconds === y.tuningSeconds &&
    x.families.join() === y.families.join()
  );
}

/**
 * @param isShared whether a team's server knows this mark
 * @returns whether anything has changed
 */
export function putMark(statement: Prepare, subject: number, mark: KeptMark, isShared: boolean): boolean {
  const { generation, kind, reason, createdAt, createdBy, machine, tool } = mark;
  const configuration = configurationText(mark.configuration);
  const row = { subject, configuration, generation, kind, reason, createdAt, createdBy, machine, tool };
  const change = isShared ? null : nextChange(statement);
  return statement(sql.PUT_MARK).run({ ...row, change }).changes > 0;
}
