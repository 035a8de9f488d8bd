// How much of a program's time there are decisions about. Pure.
import type { Decision } from '../decision/decision.ts';
import { isDispatchOf } from '../input/operation.ts';

/** Shares of the time that a program spends in its dispatches. */
export interface TimeShares {
  /** In those that have their configuration, or whose default was found to be best. */
  readonly decided: number;
  /** In those that nobody has found anything out about. */
  readonly undecided: number;
  /** In those that are not tuned. */
  readonly untuned: number;
  /** What is not decided, largest share first. */
  readonly left: readonly Left[];
}

interface Left {
  readonly dispatch: string;
  readonly share: number;
  readonly reason: string;
}

/** What is less of the time is not worth a line. */
const LEAST_SHARE = 0.01;

/**
 * @param seconds of dispatches by name, as the program was timed last
 * @returns null where nobody has timed it
 */
export function timeSharesOf(
  decisions: readonly Decision[],
  seconds: ReadonlyMap<string, number>,
): TimeShares | null {
  const total = [...seconds.values()].reduce((sum, one) => sum + one, 0);
  if (total === 0) return null;
  const shares = { decided: 0, undecided: 0, untuned: 0 };
  const left: Left[] = [];
  for (const [dispatch, own] of seconds) {
    const decision = decisions.find(({ tunable }) => tunable !== null && isDispatchOf(tunable, dispatch));
    const fate = fateOf(decision);
    const share = own / total;
    shares[fate] += share;
    if (fate !== 'decided' && share >= LEAST_SHARE)
      left.push({ dispatch, share, reason: decision?.reason ?? 'such dispatches are not tuned' });
  }
  return { ...shares, left: left.sort((a, b) => b.share - a.share) };
}

function fateOf(decision: Decision | undefined): 'decided' | 'undecided' | 'untuned' {
  if (decision === undefined || decision.outcome === 'skipped') return 'untuned';
  return decision.configuration === null ? 'undecided' : 'decided';
}
