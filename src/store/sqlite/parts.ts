// Descriptions of keys. Merging leaves the same `form` in all databases. `own` keeps this machine's own description.
import { shapeOf } from '../../workload/shape.ts';
import { isWorkload, workloadKey } from '../../workload/workload.ts';
import { compare } from '../claim.ts';
import type { PartType } from '../fields.ts';
import { parseJson } from '../validate.ts';
import * as sql from './statements.ts';
import type { Prepare } from './write.ts';

interface KnownPart {
  readonly form: string;
  /** This machine's description, if it differs; null for workloads, whose form determines the key. */
  readonly own: string | null;
}

const knownPart = (statement: Prepare, type: PartType, key: string) =>
  statement(sql.selectPart(type)).get(key) as KnownPart | undefined;

/** Merges a received description. Returns whether it changed the database. */
export function receivePart(statement: Prepare, type: PartType, key: string, form: string): boolean {
  const known = knownPart(statement, type, key);
  const joined = known === undefined ? form : joinedForm(type, key, known.form, form);
  if (joined === known?.form) return false;
  statement(sql.putPart(type)).run(key, joined);
  if (type === 'workload') placeWorkload(statement, key, joined);
  return true;
}

/** Adds a valid workload to the index of shapes. */
function placeWorkload(statement: Prepare, key: string, form: string): void {
  const workload = parseJson(form);
  if (!isWorkload(workload)) return;
  const { structure, place, sizes } = shapeOf(workload);
  statement(sql.PLACE_WORKLOAD).run(structure, place, ...sizes, key);
}

/** Stores this machine's description. Returns whether it changed the database. */
export function describePart(statement: Prepare, type: PartType, key: string, form: string): boolean {
  const known = knownPart(statement, type, key);
  const isJoined = receivePart(statement, type, key, form);
  if (type === 'workload' || (known !== undefined && (known.own ?? known.form) === form)) return isJoined;
  statement(sql.putOwnPart(type)).run(form, key);
  return true;
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
