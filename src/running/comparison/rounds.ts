// Interleaved timing of several builds of a program: repetitions in a process, and rounds of processes. Finds the fastest build.
import { timeModule, type ModuleRun } from '../../measure/compare-modules.ts';
import { undisturbed } from '../../measure/statistics.ts';
import { piecesOfFile } from '../../system/bytes.ts';
import { createDigest } from '../../system/digest.ts';
import { messageOf } from '../../system/tell.ts';
import type { Variant } from './build.ts';

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

/** Undisturbed seconds of one call of a contestant, in a process of its own. */
export type Timer = (effort: Effort) => Promise<number>;

/** Time limit of a process. */
const TIMEOUT_SECONDS = 600;

export const moduleTimer =
  (run: ModuleRun, module: string): Timer =>
  async (effort) =>
    (await timeModule(run, module, { ...effort, timeoutSeconds: TIMEOUT_SECONDS })).seconds;

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

/**
 * Seconds of one call of each contestant, in each round.
 * @param timers each contestant also runs ahead of the rounds. That run sets the number of its repetitions, and brings files into memory. With those
 *   of a slow contestant, a fast one would be timed in its first calls, before its memory and the caches are warm
 * @param extent of the rounds, or a function that returns it for the seconds of the first contestant
 */
export async function timeAll<Contestant>(
  timers: ReadonlyMap<Contestant, Timer>,
  extent: Extent | ((seconds: number) => Extent),
): Promise<ReadonlyMap<Contestant, number>[]> {
  const efforts = new Map<Contestant, Effort>();
  let first: number | null = null;
  for (const [one, timer] of timers) {
    const seconds = await timer(effortFor(Infinity));
    first ??= seconds;
    efforts.set(one, effortFor(seconds));
  }
  const own = typeof extent === 'function' ? extent(first!) : extent;
  return inRounds([...timers.keys()], own, (one) => timers.get(one)!(efforts.get(one)!));
}

/** Rotates the list by `round`, and reverses it in odd rounds, so that positions and neighbours change. */
export function rotate<T>(list: readonly T[], round: number): T[] {
  const start = list.length === 0 ? 0 : round % list.length;
  const rotated = [...list.slice(start), ...list.slice(0, start)];
  return round % 2 === 0 ? rotated : rotated.reverse();
}

/** A build with its times. Its `error` is that of the compiler, or that of a run. */
export type Timed<B> = B & {
  /** Seconds of one call in each round; null after an error. */
  readonly rounds: readonly number[] | null;
  /** Name of the earlier build with the same code, which was timed for both; null for none. */
  readonly sameCodeAs: string | null;
};

/**
 * Times builds in interleaved rounds, those with the same code once. A build that fails is not timed again.
 * @param timerOf returns the timer of a module
 */
export async function timeBuilds<B extends Variant>(
  builds: readonly B[],
  timerOf: (module: string) => Timer,
  extent: Parameters<typeof timeAll>[1],
): Promise<Timed<B>[]> {
  const digestOf = await createDigest();
  const byCode = new Map<string, B>();
  const firsts = new Map<B, B>();
  for (const one of builds) {
    if (one.error !== null) continue;
    const code = digestOf(piecesOfFile(one.module));
    const first = byCode.get(code) ?? one;
    byCode.set(code, first);
    firsts.set(one, first);
  }
  const errors = new Map<B, string>();
  const timerWithout =
    (one: B): Timer =>
    async (effort) => {
      if (errors.has(one)) return Infinity;
      try {
        return await timerOf(one.module)(effort);
      } catch (error) {
        errors.set(one, messageOf(error));
        return Infinity;
      }
    };
  const timers = new Map([...byCode.values()].map((one) => [one, timerWithout(one)]));
  const times = timers.size === 0 ? [] : await timeAll(timers, extent);
  return builds.map((one) => {
    const first = firsts.get(one);
    const error = first === undefined ? one.error : (errors.get(first) ?? null);
    const rounds = first === undefined || error !== null ? null : times.map((round) => round.get(first)!);
    return { ...one, error, rounds, sameCodeAs: first === undefined || first === one ? null : first.name };
  });
}

/** The fastest timed build; undefined if none was timed. */
export const fastest = <T extends Pick<Timed<Variant>, 'rounds'>>(builds: readonly T[]): T | undefined =>
  builds
    .flatMap((build) => (build.rounds === null ? [] : [{ build, seconds: undisturbed(build.rounds) }]))
    .toSorted((a, b) => a.seconds - b.seconds)[0]?.build;
