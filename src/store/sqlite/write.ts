// Writes subjects, descriptions of their keys, claims and marks by merging. Runs in the caller's transaction. Merging leaves the same
// `form` of a key in all databases. `own` keeps this machine's own description.
import type { Statement } from 'better-sqlite3';
import { configurationText } from '../../backend/index.ts';
import { shapeOf } from '../../workload/shape.ts';
import { isWorkload, workloadKey } from '../../workload/workload.ts';
import { compare, joinedUnder } from '../claim.ts';
import { PARTS, type PartType } from '../fields.ts';
import type { Claim, KeptMark, KeptTrial, RecordKey, Revocation, Run, Subject } from '../store.ts';
import { formOf, keysOf } from '../subject.ts';
import { parseJson } from '../validate.ts';
import { toClaim, toRevocation, type ClaimRow } from './rows.ts';
import * as sql from './statements.ts';

export type Prepare = (text: string) => Statement;

/** JSON text of a form; `null` for undefined. */
export const formText = (form: unknown): string => JSON.stringify(form ?? null);

interface KnownPart {
  readonly form: string;
  /** This machine's description, if it differs; null for workloads, whose form determines the key. */
  readonly own: string | null;
}

/** The rows of one database. Methods that change rows return whether they did, unless they return a row's number. */
export class Rows {
  readonly #statement: Prepare;

  constructor(statement: Prepare) {
    this.#statement = statement;
  }

  /** Row id of the subject. Creates the subject and its parts. */
  insertSubject(subject: Subject): number {
    for (const part of PARTS) this.describePart(part, subject[part], formText(formOf(subject, part)));
    return this.insertKnownSubject(subject)!;
  }

  /** Row id of the subject. Creates the subject; undefined if a part is missing. */
  insertKnownSubject(subject: RecordKey): number | undefined {
    const key = keysOf(subject);
    this.#statement(sql.INSERT_SUBJECT).run(key);
    return (this.#statement(sql.SELECT_SUBJECT_ID).get(key) as { id: number } | undefined)?.id;
  }

  /** The stored descriptions of a key; undefined for an unknown key. */
  knownPart(type: PartType, key: string): KnownPart | undefined {
    return this.#statement(sql.selectPart(type)).get(key) as KnownPart | undefined;
  }

  /** Merges a received description. */
  receivePart(type: PartType, key: string, form: string): boolean {
    const known = this.knownPart(type, key);
    const joined = known === undefined ? form : joinedForm(type, key, known.form, form);
    if (joined === known?.form) return false;
    this.#statement(sql.putPart(type)).run(key, joined);
    if (type === 'workload') this.#placeWorkload(key, joined);
    return true;
  }

  /** Adds a valid workload to the index of shapes. */
  #placeWorkload(key: string, form: string): void {
    const workload = parseJson(form);
    if (!isWorkload(workload)) return;
    const { structure, place, sizes } = shapeOf(workload);
    this.#statement(sql.PLACE_WORKLOAD).run(structure, place, ...sizes, key);
  }

  /** Stores this machine's description. */
  describePart(type: PartType, key: string, form: string): boolean {
    const known = this.knownPart(type, key);
    const isJoined = this.receivePart(type, key, form);
    if (type === 'workload' || (known !== undefined && (known.own ?? known.form) === form)) return isJoined;
    this.#statement(sql.putOwnPart(type)).run(form, key);
    return true;
  }

  /** Valid revocations. */
  revocations(): Revocation[] {
    const rows = this.#statement(sql.SELECT_REVOCATIONS).all() as Revocation[];
    return rows.map(toRevocation).filter((one) => one !== undefined);
  }

  /** Merges a claim with the stored one for its configuration. An invalid row counts as missing. */
  putClaim(
    subject: number,
    claim: Claim,
    revocations: readonly Pick<Revocation, 'scope' | 'value'>[],
  ): boolean {
    const configuration = configurationText(claim.configuration);
    const row = this.#statement(sql.SELECT_CLAIM).get(subject, configuration) as ClaimRow | undefined;
    const before = row && toClaim(row);
    const after = before === undefined ? claim : joinedUnder(before, claim, revocations);
    if (before !== undefined && isSameClaim(before, after)) return false;
    const { evidence } = after;
    this.#statement(sql.PUT_CLAIM).run({
      ...{ ...after, ...evidence, subject, configuration },
      families: JSON.stringify(evidence.families),
      complete: evidence.complete ? 1 : 0,
    });
    return true;
  }

  /** Removes the miss and the undecided state of a subject with a new claim. */
  deleteMiss(subject: number): void {
    for (const text of [sql.DELETE_MISS, sql.DELETE_UNDECIDED]) this.#statement(text).run(subject);
  }

  putMark(subject: number, mark: KeptMark): boolean {
    const configuration = configurationText(mark.configuration);
    return this.#statement(sql.PUT_MARK).run({ ...mark, subject, configuration }).changes > 0;
  }

  insertTrial(subject: number, trial: Omit<KeptTrial, 'runs'>): number | bigint {
    const configuration = configurationText(trial.configuration);
    return this.#statement(sql.INSERT_TRIAL).run({ ...trial, subject, configuration }).lastInsertRowid;
  }

  /** @param trial number of its row */
  insertRun(trial: unknown, run: Omit<Run, 'configuration'>): void {
    const defaultSeconds = run.defaultSeconds && JSON.stringify(run.defaultSeconds);
    const seconds = JSON.stringify(run.seconds);
    this.#statement(sql.INSERT_RUN).run({ ...run, trial, seconds, defaultSeconds });
  }
}

/** Chooses one of two descriptions, the same in every database: a valid one wins, then the greater text. */
function joinedForm(type: PartType, key: string, a: string, b: string): string {
  const [isASound, isBSound] = [isSoundForm(type, key, a), isSoundForm(type, key, b)];
  if (isASound !== isBSound) return isASound ? a : b;
  return compare(a, b) >= 0 ? a : b;
}

/** Whether a form is valid. A workload's form must determine its key. */
export function isSoundForm(type: PartType, key: string, text: string): boolean {
  const form = parseJson(text);
  return type === 'workload' ? isWorkload(form) && workloadKey(form) === key : form !== undefined;
}

/** For two claims of one subject and configuration. */
function isSameClaim(a: Claim, b: Claim): boolean {
  const [x, y] = [a.evidence, b.evidence];
  return (
    a.digest === b.digest &&
    x.trials === y.trials &&
    x.tuningSeconds === y.tuningSeconds &&
    x.families.join() === y.families.join()
  );
}
