// A team's server that has failed is left alone for a while: a build that knows it loads nothing that asks one.
import { noteCounts } from '../report/counting.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { writeLog } from '../system/tell.ts';
import { breakerState } from '../team/breaker.ts';
import { recallBreaker, serverIdentity } from '../team/breaker-memory.ts';

/** Whether nobody is to ask it now; then it is counted, and said to who keeps a log. */
export function isTeamAway(url: string, surroundings: Surroundings): boolean {
  const breaker = recallBreaker(surroundings.cacheDirectory, serverIdentity(url));
  if (breaker === null || breakerState(breaker, Date.now()) !== 'open') return false;
  noteUnreachable(breaker.reason, surroundings);
  return true;
}

/** Counts it, and says why there was no answer to who keeps a log. */
export function noteUnreachable(reason: string, { cacheDirectory, settings }: Surroundings): void {
  noteCounts(cacheDirectory, { 'team: unreachable': 1 });
  if (settings.log !== undefined) writeLog(reason, settings.log);
}
