// How much of a program's time there are decisions about. Pure.
import type { Decision } from '../decision/decision.ts';
import { isDispatchOf } from '../input/operation.ts';
import { workloadBytes } from '../workload/workload.ts';
import { because, type Reason } from '../system/reason.ts';

/** What a program spends its time in, as it was timed last. */
export interface ProgramTimes {
  /** Of dispatches by name, in one run of all functions; empty where nobody has timed them. */
  readonly seconds: ReadonlyMap<string, number>;
  /** Bytes that the machine reads from memory in a second; null where nobody has measured it. */
  readonly bytesPerSecond: number | null;
}

export const NO_TIMES: ProgramTimes = { seconds: new Map(), bytesPerSecond: null };

/** Shares of the time that a program spends in its dispatches. */
export interface TimeShares {
  /** In those that have their configuration, or whose default was found to be best. */
  readonly decided: number;
  /** In those without a decision that read memory about as fast as the machine can. */
  readonly atBound: number;
  /** In those that nobody has found anything out about. */
  readonly undecided: number;
  /** In those that are not tuned. */
  readonly untuned: number;
  /** What is neither decided nor at its bound, largest share first. */
  readonly left: readonly Left[];
}

interface Left extends Reason {
  readonly dispatch: string;
  readonly share: number;
}

/** A dispatch with less of the time gets no line. */
const LEAST_SHARE = 0.01;

/** A dispatch that reads so much of what the machine can is at its bound. */
const BOUND = 0.8;

/** @param cacheBytes of the largest cache: what fits into it need not come from memory; null where nobody knows */
export function timeSharesOf(
  decisions: readonly Decision[],
  { seconds, bytesPerSecond }: ProgramTimes,
  cacheBytes: number | null,
): TimeShares | null {
  const total = [...seconds.values()].reduce((sum, one) => sum + one, 0);
  if (total === 0) return null;
  const isAtBound = ({ tunable }: Decision, own: number) => {
    if (tunable === null || bytesPerSecond === null || cacheBytes === null) return false;
    const bytes = workloadBytes(tunable.workload);
    return bytes > cacheBytes && bytes / own >= BOUND * bytesPerSecond;
  };
  const shares = { decided: 0, atBound: 0, undecided: 0, untuned: 0 };
  const left: Left[] = [];
  for (const [dispatch, own] of seconds) {
    const decision = decisions.find(({ tunable }) => tunable !== null && isDispatchOf(tunable, dispatch));
    const fate = fateOf(decision);
    const share = own / total;
    if (fate !== 'decided' && decision !== undefined && isAtBound(decision, own)) {
      shares.atBound += share;
      continue;
    }
    shares[fate] += share;
    if (fate !== 'decided' && share >= LEAST_SHARE)
      left.push({
        ...{ dispatch, share },
        ...(decision ? because(decision.code, decision.reason) : because('dispatch-unsupported')),
      });
  }
  return { ...shares, left: left.sort((a, b) => b.share - a.share) };
}

function fateOf(decision: Decision | undefined): 'decided' | 'undecided' | 'untuned' {
  if (decision === undefined || decision.outcome === 'skipped') return 'untuned';
  return decision.configuration === null ? 'undecided' : 'decided';
}

const percent = (share: number) => `${Math.round(100 * share)}%`;

/** So many dispatches are named. */
const MOST_NAMED = 5;

/** For people: a sentence, and a line for each of the largest dispatches that are left. */
export function timeLines({ decided, atBound, undecided, untuned, left }: TimeShares): string[] {
  const parts = [
    `${percent(decided)} is decided`,
    ...(atBound >= LEAST_SHARE ? [`${percent(atBound)} as fast as memory allows`] : []),
    `${percent(undecided)} undecided`,
  ];
  const named = left.slice(0, MOST_NAMED);
  return [
    `Of the program's time, as it was timed last, ${parts.join(', ')} and ${percent(untuned)} not tuned${named.length === 0 ? '.' : ':'}`,
    ...named.map(({ dispatch, share, reason }) => `${percent(share)} ${dispatch}: ${reason}`),
  ];
}
