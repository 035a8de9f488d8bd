// Merges notes about whole programs.
import { isObject } from '../system/data.ts';
import { compare } from './claim.ts';
import type { KeptNote } from './store.ts';

/** Whether a note has the result of a run. Other notes only count tries. */
export function hasVerdict({ kind, note }: Pick<KeptNote, 'kind' | 'note'>): boolean {
  if (!isObject(note)) return false;
  return kind === 'forms' ? note['verdict'] !== 'open' : note['open'] === null;
}

/**
 * Compares two notes of one origin about one program: positive if `a` stays. A verdict stays before a try, then the later note, then the
 * greater text.
 */
export const compareNotes = (a: KeptNote, b: KeptNote): number =>
  compare(Number(hasVerdict(a)), Number(hasVerdict(b))) ||
  compare(a.writtenAt, b.writtenAt) ||
  compare(JSON.stringify([a.note, a.tool]), JSON.stringify([b.note, b.tool]));
