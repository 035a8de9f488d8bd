// The effort of timing a model: repetitions in a process, and rounds of processes.
import { rotate } from '../shared/workplace.ts';

export interface Effort {
  readonly repetitions: number;
  /** Least time spent in one repetition, in seconds. */
  readonly minSeconds: number;
}

/** Seconds of timing in one process. */
const TIMED_SECONDS = 0.2;
/** `undisturbed` takes the fastest of three repetitions, and so skips a slow first call. */
const LEAST_REPETITIONS = 3;
const MOST_REPETITIONS = 20;

/** @param seconds of one call, about */
export const effortFor = (seconds: number): Effort => ({
  repetitions: Math.min(MOST_REPETITIONS, Math.max(LEAST_REPETITIONS, Math.floor(TIMED_SECONDS / seconds))),
  minSeconds: TIMED_SECONDS / MOST_REPETITIONS,
});

/** Most rounds, and about the seconds of all rounds together. */
export interface Extent {
  readonly rounds: number;
  readonly seconds: number;
}

/** Fewer rounds give no useful interval: see `ratioInterval`. */
const LEAST_ROUNDS = 3;

/**
 * Times each contestant once per round, in a changing order. Stops before a round that would likely exceed the time.
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
  /** Expected seconds after one more round. */
  const likely = () => ((performance.now() - begun) / 1000) * (1 + 1 / all.length);
  while (all.length < rounds && (all.length < LEAST_ROUNDS || likely() <= seconds)) {
    const times = new Map<Contestant, number>();
    for (const contestant of rotate(contestants, all.length)) times.set(contestant, await time(contestant));
    all.push(times);
  }
  return all;
}
