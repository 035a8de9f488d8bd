// When a server that has failed is asked again. Pure: what time it is and what chance says are handed in.
import { isObject } from '../system/data.ts';
import type { Failure } from './team.ts';

/** What is remembered of a server that has failed; null, and nothing is remembered, of one that has answered. */
export interface Breaker {
  /** In a row. */
  readonly failures: number;
  /** Milliseconds of the system's clock. */
  readonly since: number;
  /** From when on somebody may try again; null for never, as long as the URL is the same. */
  readonly until: number | null;
  /** Of the last failure. */
  readonly reason: string;
}

/** - `half-open`: one may try, and everybody else goes on without. */
export type BreakerState = 'closed' | 'open' | 'half-open';

const SHORTEST_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** All machines that lost the server at the same moment do not come back at the same moment. */
const JITTER = 0.2;

/** @param now milliseconds of the system's clock; where that was set back, a breaker is not open for longer than ever */
export function breakerState(breaker: Breaker | null, now: number): BreakerState {
  if (breaker === null) return 'closed';
  if (breaker.until === null) return 'open';
  return now >= breaker.until || now < breaker.since ? 'half-open' : 'open';
}

/** @param random from 0 up to 1 */
export function afterFailure(
  before: Breaker | null,
  { kind, reason }: Failure,
  now: number,
  random: number,
): Breaker {
  const failures = (before?.failures ?? 0) + 1;
  const pause = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (failures - 1));
  const until = kind === 'denied' ? null : now + pause * (1 + JITTER * (2 * random - 1));
  return { failures, since: now, until, reason };
}

export const isBreaker = (value: unknown): value is Breaker =>
  isObject(value) &&
  Number.isSafeInteger(value['failures']) &&
  (value['failures'] as number) > 0 &&
  Number.isFinite(value['since']) &&
  (value['until'] === null || Number.isFinite(value['until'])) &&
  typeof value['reason'] === 'string';
