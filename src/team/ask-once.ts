// Asking a server on a build's time: not when it has just failed, not what it has just been asked, and one process at a
// time. Never throws, and never takes longer than the limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFailure, breakerState, type Breaker } from './breaker.ts';
import { afterAnswer, worthAsking } from './missing.ts';
import type { TeamState } from './state.ts';
import type { Answer, Question, Received } from './team.ts';

/**
 * - `answered`: it was asked, and has said what it knows.
 * - `unreachable`: it was not asked, or in vain. That is no miss.
 * - `known`: it has said not long ago that it knows nothing of all this.
 * - `found`: somebody else has asked meanwhile, and nothing is missing any more.
 */
export type Asked =
  | { readonly outcome: 'answered'; readonly ignored: number }
  | { readonly outcome: 'unreachable'; readonly reason: string }
  | { readonly outcome: 'known' | 'found' };

export interface Asking {
  readonly state: TeamState;
  readonly place: Omit<Question, 'workloads'>;
  /** The workloads that are missing here, now. */
  readonly missing: () => readonly string[];
  readonly ask: (question: Question, limitMs: number) => Promise<Answer<Received>>;
  /** Takes what the server knows. */
  readonly take: (received: Received) => void | Promise<void>;
  readonly limitMs: number;
  /** Milliseconds of the system's clock, and a number from 0 up to 1. */
  readonly now: () => number;
  readonly random: () => number;
}

/** How often who waits for another one that asks looks whether it is his turn, in milliseconds. */
const INTERVAL = 10;

/** Less time than this is not worth asking in, in milliseconds. */
const SHORTEST = 20;

/**
 * Asks for what is missing, once. Whoever comes while another process asks waits for his turn as long as his own limit
 * lasts, and goes on with what there is when it does not come: so at the first build with many processes the server gets
 * one question at a time, and while it is down one process at a time waits for it.
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
  /** What is worth asking, or what is known without that. */
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
      // One is enough to find out whether it is back.
      if (before !== null) return { outcome: 'unreachable', reason: before.reason };
      if (performance.now() + INTERVAL + SHORTEST > end)
        return { outcome: 'unreachable', reason: 'others asked the team for all that time' };
      await sleep(INTERVAL);
      continue;
    }
    try {
      // Whoever had the turn before may have found out what is asked here.
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
