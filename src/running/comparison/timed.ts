// Times builds of a program against each other, and finds the fastest.
import { undisturbed } from '../../measure/statistics.ts';
import { piecesOfFile } from '../../system/bytes.ts';
import { createDigest } from '../../system/digest.ts';
import { messageOf } from '../../system/tell.ts';
import type { NamedBuild } from './build.ts';
import { timeAll, type Timer } from './rounds.ts';

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
export async function timeBuilds<B extends NamedBuild>(
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
export const fastest = <T extends Pick<Timed<NamedBuild>, 'rounds'>>(builds: readonly T[]): T | undefined =>
  builds
    .flatMap((build) => (build.rounds === null ? [] : [{ build, seconds: undisturbed(build.rounds) }]))
    .toSorted((a, b) => a.seconds - b.seconds)[0]?.build;
