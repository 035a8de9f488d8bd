// How thoroughly one process measures a model, and how often.
import { rotate } from '../shared/workplace.ts';

export interface Effort {
  readonly repetitions: number;
  /** Least time spent in one repetition, in seconds. */
  readonly minSeconds: number;
}

/** Seconds that a process times a model for. */
const TIMED_SECONDS = 0.2;
/** Of three repetitions the fastest counts, so that none is the first call: see `undisturbed`. */
const LEAST_REPETITIONS = 3;
const MOST_REPETITIONS = 20;

/** @param seconds of one call, about */
export const effortFor = (seconds: number): Effort => ({
  repetitions: Math.min(MOST_REPETITIONS, Math.max(LEAST_REPETITIONS, Math.floor(TIMED_SECONDS / seconds))),
  minSeconds: TIMED_SECONDS / MOST_REPETITIONS,
});

/** How many rounds there may be, and about how long all of them may take, in seconds. */
export interface Extent {
  readonly rounds: number;
  readonly seconds: number;
}

/** Fewer rounds say nothing: see `ratioInterval`. */
const LEAST_ROUNDS = 3;

/**
 * Times contestants in rounds, in each of them everybody once, in an order that changes. Ends before a round that would likely
 * end too late.
 * @param time seconds of one call of a contestant
 * @returns a map for each round
 */
export async function inRounds<Contestant>(
  contestants: readonly Contestant[],
  { rounds, seconds }: Extent,
  time: (contestant: Contestant) => Promise<number>,
): Promise<ReadonlyMap<Contestant, number>[]> {
  const begun = performance.now();
  const all: Map<Contestant, number>[] = [];
  /** Seconds after one more round, if it takes as long as the others. */
  const likely = () => ((performance.now() - begun) / 1000) * (1 + 1 / all.length);
  while (all.length < rounds && (all.length < LEAST_ROUNDS || likely() <= seconds)) {
    const times = new Map<Contestant, number>();
    for (const contestant of rotate(contestants, all.length)) times.set(contestant, await time(contestant));
    all.push(times);
  }
  return all;
}
