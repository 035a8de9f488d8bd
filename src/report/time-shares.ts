// Shares of a program's time with and without decisions. Pure.
import type { Decision } from '../decision/decision.ts';
import { isDispatchOf } from '../input/operation.ts';
import { sumOf } from '../measure/statistics.ts';
import { percent } from '../system/format.ts';
import { workloadBytes } from '../workload/workload.ts';
import { because, type Reason } from '../system/reason.ts';
import { NO_RATES, type DeviceRates, type TimedDispatch } from './loss.ts';

/** Times of a program's dispatches, as they were timed last. */
export interface ProgramTimes {
  /** In one run of all functions; empty if they were not timed. */
  readonly dispatches: readonly TimedDispatch[];
  /** One call of each function together; null if it was not timed. */
  readonly wholeSeconds: number | null;
  readonly rates: DeviceRates;
}

export const NO_TIMES: ProgramTimes = { dispatches: [], wholeSeconds: null, rates: NO_RATES };

/** Shares of the time in a program's dispatches, from 0 to 1. */
export interface TimeShares {
  /** Dispatches with a configuration, or whose default is best. */
  readonly decided: number;
  /** Dispatches without a decision that read memory at about the machine's bandwidth. */
  readonly atBound: number;
  /** Dispatches without a record. */
  readonly undecided: number;
  /** Dispatches that are not tuned. */
  readonly untuned: number;
  /** Undecided and untuned dispatches, largest share first. */
  readonly left: readonly Left[];
}

interface Left extends Reason {
  readonly dispatch: string;
  readonly share: number;
}

/** Smaller shares are not listed. */
const LEAST_SHARE = 0.01;

/** A dispatch is at its bound from this share of the bandwidth on. */
const BOUND = 0.8;

/** @param cacheBytes size of the largest cache, from which smaller data may come; null if unknown */
export function timeSharesOf(
  decisions: readonly Decision[],
  { dispatches, rates: { bytesPerSecond } }: Pick<ProgramTimes, 'dispatches' | 'rates'>,
  cacheBytes: number | null,
): TimeShares | null {
  const total = sumOf(dispatches.map(({ seconds }) => seconds));
  if (total === 0) return null;
  const isAtBound = ({ tunable }: Decision, seconds: number) => {
    if (tunable === null || bytesPerSecond === null || cacheBytes === null) return false;
    const bytes = workloadBytes(tunable.workload);
    return bytes > cacheBytes && bytes / seconds >= BOUND * bytesPerSecond;
  };
  const shares = { decided: 0, atBound: 0, undecided: 0, untuned: 0 };
  const left: Left[] = [];
  for (const { dispatch, seconds } of dispatches) {
    const decision = decisions.find(({ tunable }) => tunable !== null && isDispatchOf(tunable, dispatch));
    const fate = fateOf(decision);
    const share = seconds / total;
    if (fate !== 'decided' && decision !== undefined && isAtBound(decision, seconds)) {
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

/** Share of the time with a decision, or at its bound. */
export const settledShare = ({ decided, atBound }: TimeShares): number => decided + atBound;

/** Most dispatches that are named. */
const MOST_NAMED = 5;

/** For people: a sentence, and a line for each of the largest dispatches without a decision. */
export function timeLines({ decided, atBound, undecided, untuned, left }: TimeShares): string[] {
  const parts = [
    // A decision is a fact about the search. The table of losses tells the speed.
    `decisions cover ${percent(decided)}`,
    ...(atBound >= LEAST_SHARE ? [`${percent(atBound)} is as fast as memory allows`] : []),
    `${percent(undecided)} is undecided`,
  ];
  const named = left.slice(0, MOST_NAMED);
  return [
    `Of the program's time, as it was timed last, ${parts.join(', ')} and ${percent(untuned)} is not tuned${named.length === 0 ? '.' : ':'}`,
    ...named.map(({ dispatch, share, reason }) => `${percent(share)} ${dispatch}: ${reason}`),
  ];
}
