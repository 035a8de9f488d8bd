// Decides whether a build asks its team's server. A build that does not ask loads no client.
import { noteCounts } from '../report/counting.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { writeLog } from '../system/tell.ts';
import { breakerState } from '../team/breaker.ts';
import { serverMemory } from '../team/memory.ts';
import { worthAsking } from '../team/missing.ts';
import type { Question } from '../team/team.ts';

/** False after a recent failure, and after a recent answer without records. Counts the reason. */
export function shouldAskTeam(url: string, question: Question, surroundings: Surroundings): boolean {
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

/** Counts a missing answer, and logs the reason. */
export function noteUnreachable(reason: string, { cacheDirectory, settings }: Surroundings): void {
  noteCounts(cacheDirectory, { 'team: unreachable': 1 });
  if (settings.log !== undefined) writeLog(reason, settings.log);
}
