// A team's server that has failed is left alone for a while, and so is one that has just said that it knows nothing: a build
// that remembers that loads nothing that asks one.
import { noteCounts } from '../report/counting.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { writeLog } from '../system/tell.ts';
import { breakerState } from '../team/breaker.ts';
import { serverMemory } from '../team/memory.ts';
import { worthAsking } from '../team/missing.ts';
import type { Question } from '../team/team.ts';

/** Whether it is to be asked now. Where it is not, why is counted. */
export function isWorthAsking(url: string, question: Question, surroundings: Surroundings): boolean {
  const { cacheDirectory } = surroundings;
  const memory = serverMemory(cacheDirectory, url);
  const now = Date.now();
  const breaker = memory.breaker();
  if (breaker !== null && breakerState(breaker, now) === 'open') {
    noteUnreachable(breaker.reason, surroundings);
    return false;
  }
  if (worthAsking(memory.missing(), question, now).length > 0) return true;
  noteCounts(cacheDirectory, { 'team: known': 1 });
  return false;
}

/** Counts a missing answer, and writes its reason into the log. */
export function noteUnreachable(reason: string, { cacheDirectory, settings }: Surroundings): void {
  noteCounts(cacheDirectory, { 'team: unreachable': 1 });
  if (settings.log !== undefined) writeLog(reason, settings.log);
}
