// Times functions of compiled modules on this machine. The number of repetitions depends on the function's own time.
import { timeCandidates, type Timings } from '../measure/benchmark.ts';
import { median, sumOf } from '../measure/statistics.ts';
import { countdown, type Toolchain } from '../measure/toolchain.ts';
import { staticForms, type OperationWork } from '../workload/workload.ts';
import type { Stratum, TimedProcess } from './bench.ts';

/** Name of the default's function in every module. */
export const DEFAULT_NAME = 'stock';

/** Effort of timing a function in one process. */
export interface TimingEffort {
  /** Seconds for all repetitions. */
  readonly seconds: number;
  readonly least: number;
  readonly most: number;
  /** Most processes of a default alone. Later ones reuse its time. No limit if left out. */
  readonly defaultProcesses?: number;
}

/** Few repetitions for many contestants. Times of an earlier batch would be of a faster or slower machine. */
export const SCREENING: TimingEffort = { seconds: 0.05, least: 2, most: 6 };

/** Times of one thread differ more between processes than within one, so that more repetitions tell little. */
export const FINALS: TimingEffort = { seconds: 0.03, least: 3, most: 10, defaultProcesses: 3 };

/** Other work disturbs many threads for milliseconds. */
export const FINALS_ON_THREADS: TimingEffort = { ...FINALS, seconds: 0.05, most: 25 };

/** A slower function, in seconds, runs once in a process: several processes tell more than several runs. */
const LONG_RUN = 0.25;

/** Least time of one repetition, in seconds. Shorter ones are imprecise. */
const LEAST_SECONDS = 0.002;

/** A default that is this many times slower than the contestants, and slower than so many seconds, is timed in its own process. */
const FAR_SLOWER = 8;
const SLOW_SECONDS = 0.02;

/** A contestant that is this many times slower than the default times out. */
const HOPELESS = 20;

/** Largest share of the limit for the first process. The rest is for finding out which function hangs. */
const FIRST_SHARE = 0.75;

/** Seconds to load a module on a busy machine. */
const START_SECONDS = 5;

/** @param seconds of one run */
export function repetitionsFor(seconds: number, { seconds: room, least, most }: TimingEffort): number {
  if (seconds > LONG_RUN) return 1;
  return Math.min(most, Math.max(least, Math.floor(room / Math.max(seconds, LEAST_SECONDS))));
}

/** Times the functions of one workload, and remembers their times for the number of repetitions. */
export class Timer {
  readonly #toolchain: Toolchain;
  readonly #workload: OperationWork;
  /** Seconds of one run at every size, by function. */
  readonly #known = new Map<string, number>();
  /** Times of the default in its own processes. */
  readonly #defaultAlone: (readonly number[])[] = [];

  constructor(toolchain: Toolchain, workload: OperationWork) {
    this.#toolchain = toolchain;
    this.#workload = workload;
  }

  /** Seconds of one run of the default at every size; NaN before it was timed. */
  get defaultSeconds(): number {
    return this.#known.get(DEFAULT_NAME) ?? NaN;
  }

  /** Sets the expected time of a function, in seconds of one run at every size. */
  expect(name: string, seconds: number): void {
    this.#known.set(name, seconds);
  }

  /** Runs the default once. */
  async timeDefault(path: string, timeoutSeconds: number): Promise<Timings> {
    const options = { repetitions: 1, minSeconds: 0.005, timeoutSeconds };
    const timed = await timeCandidates(this.#toolchain, this.#workload, path, [DEFAULT_NAME], options);
    for (const [name, own] of timed.seconds) this.expect(name, sumOf(own));
    return timed;
  }

  /**
   * Times contestants of a module in one process. A far slower default gets its own process.
   * @param module whether it has the default, and times it
   * @param names of the contestants, which are those of their functions
   * @param limitSeconds of all processes together
   */
  async time(
    { path, hasDefault }: { readonly path: string; readonly hasDefault: boolean },
    names: readonly string[],
    { placement, build }: Stratum,
    effort: TimingEffort,
    limitSeconds = Infinity,
  ): Promise<TimedProcess> {
    const known = names.flatMap((name) => this.#known.get(name) ?? []);
    const ofDefault = this.defaultSeconds;
    // Contestants are assumed to be as slow as the default until one was timed.
    const typical = known.length === 0 ? ofDefault : median(known);
    const isDefaultAlone =
      hasDefault && names.length > 0 && ofDefault > Math.max(SLOW_SECONDS, FAR_SLOWER * typical);
    const sizes = staticForms(this.#workload).length;
    const secondsLeft = countdown(limitSeconds);
    const run = (some: readonly string[], seconds: number) => {
      const repetitions = repetitionsFor(seconds / sizes, effort);
      const left = Math.max(0, secondsLeft());
      const longest = Math.max(10 * LEAST_SECONDS * sizes, HOPELESS * (ofDefault || 0));
      return timeCandidates(this.#toolchain, this.#workload, path, some, {
        ...{ repetitions, minSeconds: LEAST_SECONDS, placement },
        timeoutSeconds: Math.min(FIRST_SHARE * left, START_SECONDS + some.length * repetitions * longest),
        limitSeconds: left,
      });
    };
    const stock = hasDefault ? [DEFAULT_NAME] : [];
    let alone = this.#defaultAlone.at((effort.defaultProcesses ?? Infinity) - 1);
    if (isDefaultAlone && alone === undefined) {
      alone = (await run(stock, ofDefault)).seconds.get(DEFAULT_NAME);
      if (alone !== undefined) this.#defaultAlone.push(alone);
    }
    const timed = await run(isDefaultAlone ? names : [...stock, ...names], typical);
    const seconds = new Map(timed.seconds);
    const defaultSeconds = (isDefaultAlone ? alone : seconds.get(DEFAULT_NAME)) ?? null;
    if (defaultSeconds !== null) this.expect(DEFAULT_NAME, sumOf(defaultSeconds));
    seconds.delete(DEFAULT_NAME);
    for (const [name, one] of seconds) this.expect(name, sumOf(one));
    const repetitions = repetitionsFor(typical / sizes, effort);
    return { placement, build, defaultSeconds, seconds, failed: timed.failed, repetitions };
  }
}
