// What keys stand for. Databases agree on one form for a key, whoever tells whom; what is done here itself is described as it
// was found here, whatever others say of it.
import { shapeOf } from '../../workload/shape.ts';
import { isWorkload, workloadKey } from '../../workload/workload.ts';
import { compare } from '../claim.ts';
import type { PartType } from '../exchange/lines.ts';
import { parseJson } from '../validate.ts';
import * as sql from './statements.ts';
import type { Prepare } from './write.ts';

interface KnownPart {
  readonly form: string;
  /** As it was found here, where that is not what others say; a workload's form is checked by its key instead. */
  readonly own: string | null;
}

const knownPart = (statement: Prepare, type: PartType, key: string) =>
  statement(sql.selectPart(type)).get(key) as KnownPart | undefined;

/** Takes what somebody says of a key. Whether that has changed anything. */
export function receivePart(statement: Prepare, type: PartType, key: string, form: string): boolean {
  const known = knownPart(statement, type, key);
  const joined = known === undefined ? form : joinedForm(type, key, known.form, form);
  if (joined === known?.form) return false;
  statement(sql.putPart(type)).run(key, joined);
  if (type === 'workload') placeWorkload(statement, key, joined);
  return true;
}

/** Notes where a workload lies among those of its structure; what is damaged lies nowhere. */
function placeWorkload(statement: Prepare, key: string, form: string): void {
  const workload = parseJson(form);
  if (!isWorkload(workload)) return;
  const { structure, place, sizes } = shapeOf(workload);
  statement(sql.PLACE_WORKLOAD).run(structure, place, ...sizes, key);
}

/** Notes what a key stands for here. Whether that has changed anything. */
export function describePart(statement: Prepare, type: PartType, key: string, form: string): boolean {
  const known = knownPart(statement, type, key);
  const isJoined = receivePart(statement, type, key, form);
  if (type === 'workload' || (known !== undefined && (known.own ?? known.form) === form)) return isJoined;
  statement(sql.putOwnPart(type)).run(form, key);
  return true;
}

/** Whatever two databases have for a key, both keep the same: what is damaged loses, then the greater text wins. */
function joinedForm(type: PartType, key: string, a: string, b: string): string {
  const [isASound, isBSound] = [isSoundForm(type, key, a), isSoundForm(type, key, b)];
  if (isASound !== isBSound) return isASound ? a : b;
  return compare(a, b) >= 0 ? a : b;
}

/** Whether it is a form at all; for a workload, whether its key is made of it. */
export function isSoundForm(type: PartType, key: string, text: string): boolean {
  const form = parseJson(text);
  return type === 'workload' ? isWorkload(form) && workloadKey(form) === key : form !== undefined;
}
