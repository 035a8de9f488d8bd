// Asks a server during a build: not after a recent failure, not twice for the same miss, and one process at a time. Never throws, and
// keeps the time limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFailure, breakerState, type Breaker } from './breaker.ts';
import { afterAnswer, worthAsking } from './missing.ts';
import type { TeamState } from './state.ts';
import type { Answer, Question, Received } from './team.ts';

/**
 * - `answered`: the server answered.
 * - `unreachable`: the server did not answer, or was not asked after a recent failure. This is no miss.
 * - `known`: the server said recently that it has none of these workloads.
 * - `found`: another process asked in the meantime, and nothing is missing any more.
 */
export type Asked =
  | { readonly outcome: 'answered'; readonly ignored: number }
  | { readonly outcome: 'unreachable'; readonly reason: string }
  | { readonly outcome: 'known' | 'found' };

export interface Asking {
  readonly state: TeamState;
  readonly place: Omit<Question, 'workloads'>;
  /** Keys of workloads without a record here. */
  readonly missing: () => readonly string[];
  readonly ask: (question: Question, limitMs: number) => Promise<Answer<Received>>;
  /** Merges the answer into the local database. */
  readonly take: (received: Received) => void | Promise<void>;
  readonly limitMs: number;
  /** Milliseconds of the system's clock; `random` gives a number in [0, 1). */
  readonly now: () => number;
  readonly random: () => number;
}

/** Interval in milliseconds at which a waiting process tries the lock. */
const INTERVAL = 10;

/** Shortest limit of a question, in milliseconds. */
const SHORTEST = 20;

/**
 * Asks for missing workloads once. While another process asks, this one waits for the lock, up to its own limit. So a first build with
 * many processes sends one question at a time, and only one process at a time waits for a dead server.
 */
export async function askOnce({
  state,
  place,
  missing,
  ask,
  take,
  limitMs,
  now,
  random,
}: Asking): Promise<Asked> {
  const end = performance.now() + limitMs;
  const worth = () => worthAsking(state.missing(), { ...place, workloads: missing() }, now());
  /** The workloads to ask for, or the outcome if there are none. */
  const open = (breaker: Breaker | null): string[] | Asked => {
    if (breaker !== null && breakerState(breaker, now()) === 'open')
      return { outcome: 'unreachable', reason: breaker.reason };
    const workloads = worth();
    return workloads.length > 0 ? workloads : { outcome: missing().length === 0 ? 'found' : 'known' };
  };
  for (;;) {
    const before = state.breaker();
    const known = open(before);
    if ('outcome' in known) return known;
    const turn = state.lock();
    if (turn === null) {
      // One process is enough to test a server that failed.
      if (before !== null) return { outcome: 'unreachable', reason: before.reason };
      if (performance.now() + INTERVAL + SHORTEST > end)
        return { outcome: 'unreachable', reason: 'other processes asked the team until the time limit' };
      await sleep(INTERVAL);
      continue;
    }
    try {
      // The process before may have got the answer.
      const breaker = state.breaker();
      const workloads = open(breaker);
      if ('outcome' in workloads) return workloads;
      const answer = await ask({ ...place, workloads }, Math.max(SHORTEST, end - performance.now()));
      if (!answer.ok) {
        state.setBreaker(afterFailure(breaker, answer.failure, now(), random()));
        return { outcome: 'unreachable', reason: answer.failure.reason };
      }
      if (breaker !== null) state.setBreaker(null);
      await take(answer.value);
      const still = new Set(missing());
      const useless = workloads.filter((workload) => still.has(workload));
      if (useless.length > 0)
        state.setMissing(afterAnswer(state.missing(), { ...place, workloads: useless }, now()));
      return { outcome: 'answered', ignored: answer.value.later.length + answer.value.ignored };
    } finally {
      turn.release();
    }
  }
}
