// When a server that has failed is asked again. Pure: the caller gives time and chance.
import { isObject } from '../system/data.ts';
import type { Failure } from './team.ts';

/** State of a server that has failed; null for a server that has answered. */
export interface Breaker {
  /** In a row. */
  readonly failures: number;
  /** Milliseconds of the system's clock. */
  readonly since: number;
  /** When one build may try again. */
  readonly until: number;
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
  // A password that is mended in ~/.pgpass changes no setting. More attempts would lock the login.
  const pause = kind === 'denied' ? LONGEST_MS : Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (failures - 1));
  const until = now + pause * (1 + JITTER * (2 * random - 1));
  return { failures, since: now, until, reason };
}

export const isBreaker = (value: unknown): value is Breaker =>
  isObject(value) &&
  Number.isSafeInteger(value['failures']) &&
  (value['failures'] as number) > 0 &&
  Number.isFinite(value['since']) &&
  Number.isFinite(value['until']) &&
  typeof value['reason'] === 'string';
