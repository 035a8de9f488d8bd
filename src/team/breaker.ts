// A circuit breaker: when to ask a failed server again. Pure: the caller passes time and random numbers.
import { hasFields, isIntegerWithin, isText } from '../system/data.ts';
import type { Failure } from './team.ts';

/** State of a server that failed; null after an answer. */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number;
  /** Milliseconds of the system's clock. */
  readonly since: number;
  /** When the breaker becomes half-open, in the same unit. */
  readonly until: number;
  /** Of the last failure. */
  readonly reason: string;
}

/** - `half-open`: one process may try. */
export type BreakerState = 'closed' | 'open' | 'half-open';

const SHORTEST_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** Spreads the retries of machines that lost the server at the same moment. */
const JITTER = 0.2;

/** @param now milliseconds of the system's clock; a breaker from the future is half-open, because the clock was set back */
export function breakerState(breaker: Breaker | null, now: number): BreakerState {
  if (breaker === null) return 'closed';
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
  // More attempts with a wrong password could lock the login.
  const pause = kind === 'denied' ? LONGEST_MS : Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (failures - 1));
  const until = now + pause * (1 + JITTER * (2 * random - 1));
  return { failures, since: now, until, reason };
}

export const isBreaker = hasFields<Breaker>({
  failures: (value) => isIntegerWithin(value, 1, Number.MAX_SAFE_INTEGER),
  ...{ since: Number.isFinite, until: Number.isFinite, reason: isText },
});
