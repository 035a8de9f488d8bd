// Screening: compiles batches of configurations and races them with few repetitions.
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationKey, meterOf } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { checkedAlone, referenceAlone, type Reference } from '../measure/verify-candidates.ts';
import { buildCandidates, isBuilt, isLinked, type Build } from '../measure/build.ts';
import { candidateOf, stockCandidate } from '../measure/candidate-module.ts';
import { loadedWith } from '../measure/common-modules.ts';
import { placementsHere, type Placement } from '../measure/placement.ts';
import { countdown, runTool, type Toolchain } from '../measure/toolchain.ts';
import type { OperationWork } from '../workload/workload.ts';
import type { Batch, Contestant, Failure, Field, ReadyBatch, TimedProcess } from './bench.ts';
import { race, type Question } from './race.ts';
import { DEFAULT_NAME, SCREENING, Timer } from './timer.ts';
import { DOES_NOT_RUN } from './undecided.ts';

/** A default slower than this, in seconds, is timed once and not in every batch. */
const SLOW_DEFAULT_SECONDS = 0.5;

/** Largest share of the time that one run of the default may take; a slower default cannot be compared with anything. */
const DEFAULT_SHARE = 0.16;

/** Processes for each module: one for each placement of operands, so that a configuration that is fast in only one does not win. */
const PROCESSES = 2;

/** Batches with fewer configurations are compiled as one module. */
const LEAST_TO_DIVIDE = 6;

/** The second process times the best of the first, all within this ratio of the best, and at least so many. */
const WITHIN_REACH = 1.5;
const LEAST_AGAIN = 4;

/** Asks which of many configurations are fast. */
const WHICH_ARE_FAST: Question = {
  rest(runners) {
    const ranked = runners.toSorted((a, b) => b.gain - a.gain);
    const least = (ranked[0]?.gain ?? 0) - Math.log(WITHIN_REACH);
    return ranked.filter(({ gain }, i) => i < LEAST_AGAIN || gain >= least);
  },
};

/** A compiled part of a batch: a module, and contestants in it. */
export interface Part {
  readonly build: Build;
  readonly built: readonly Contestant[];
}

/** Failures of contestants that the compiler refused. */
export const refusedIn = ({ refused }: Build, contestants: readonly Contestant[]): Failure[] =>
  contestants.flatMap(({ name, configuration }) => {
    const reason = refused.get(name);
    return reason === undefined ? [] : [{ configuration, outcome: 'compile-error', reason }];
  });

/** Times batches of configurations of one workload. */
export class Screener {
  readonly #toolchain: Toolchain;
  readonly #workload: OperationWork;
  readonly #timer: Timer;
  readonly #parts: Part[] = [];
  /** The default's outputs, if candidates first run alone. */
  #reference: Reference | null = null;
  #modules = 0;

  constructor(toolchain: Toolchain, workload: OperationWork) {
    this.#toolchain = toolchain;
    this.#workload = workload;
    this.#timer = new Timer(toolchain, workload);
  }

  /**
   * Compiles a batch.
   * @param timeoutSeconds of the compile
   * @param modules into which the batch may be divided, each with its own default
   */
  async prepare(
    configurations: readonly Configuration[],
    timeoutSeconds: number,
    modules = 1,
  ): Promise<ReadyBatch> {
    // Without a default in each, times of two modules are not comparable.
    const isOne = this.#isSlow || !isLinked() || configurations.length < LEAST_TO_DIVIDE;
    const size = Math.ceil(configurations.length / (isOne ? 1 : modules));
    const contestants = configurations.map((configuration, i): Contestant => ({
      ...{ name: `c${i}`, configuration, maxError: 0 },
    }));
    const parts: (readonly Contestant[])[] = [];
    for (let at = 0; at < contestants.length; at += size) parts.push(contestants.slice(at, at + size));
    const [placements, ...compiled] = await Promise.all([
      placementsHere(this.#toolchain),
      ...parts.map((part) => this.#compile(part, timeoutSeconds)),
    ]);
    const failed = compiled.flatMap(({ build }) => refusedIn(build, contestants));
    return { time: (seconds) => this.#time(placements, compiled, failed, seconds) };
  }

  async #compile(contestants: readonly Contestant[], timeoutSeconds: number): Promise<Part> {
    const candidates = contestants.map(({ name, configuration }) =>
      candidateOf(name, configuration, this.#workload, this.#toolchain.release),
    );
    const all = this.#isSlow ? candidates : [stockCandidate(DEFAULT_NAME), ...candidates];
    const module = `batch${this.#modules++}`;
    const build = await buildCandidates(this.#toolchain, this.#workload, all, module, timeoutSeconds);
    const part = { build, built: contestants.filter(({ name }) => isBuilt(build, name)) };
    this.#parts.push(part);
    return part;
  }

  /** The last compiled module with the default and all these configurations, in their order; null if there is none. */
  compiledWith(configurations: readonly Configuration[]): Part | null {
    for (const { build, built } of this.#parts.toReversed()) {
      const byKey = new Map(built.map((one) => [configurationKey(one.configuration), one]));
      const found = configurations.flatMap((one) => byKey.get(configurationKey(one)) ?? []);
      if (isBuilt(build, DEFAULT_NAME) && found.length === configurations.length)
        return { build, built: found };
    }
    return null;
  }

  async #time(
    placements: readonly Placement[],
    compiled: readonly Part[],
    failed: readonly Failure[],
    timeoutSeconds: number,
  ): Promise<Batch> {
    const secondsLeft = countdown(timeoutSeconds);
    const contestants = compiled.flatMap(({ built }) => built);
    const first = (compiled.find(({ build }) => build.module !== null) ?? compiled[0]!).build;
    const nothing = async (ending?: string): Promise<Batch> => {
      const problem = await this.#problemOf(first, timeoutSeconds, ending);
      return { contestants, processes: [], failed, problem };
    };
    if (first.module === null) return nothing();
    // Clocks and caches settle after the compiler has ended.
    await sleep(20);
    const isFirst = Number.isNaN(this.#timer.defaultSeconds);
    let alone: readonly number[] | null = null;
    if (isFirst) {
      // The default runs once alone first, because a slow default must not run ten times.
      const { seconds, failed } = await this.#timer.timeDefault(first.module, timeoutSeconds * DEFAULT_SHARE);
      alone = seconds.get(DEFAULT_NAME) ?? null;
      if (alone === null) return nothing(failed.get(DEFAULT_NAME));
    }
    const isSlow = this.#isSlow;
    const modules = compiled.flatMap(({ build }) =>
      build.module === null
        ? []
        : [{ build, path: build.module, hasDefault: !isSlow && isBuilt(build, DEFAULT_NAME) }],
    );
    const { device } = this.#toolchain;
    const checked = meterOf(device).isVerifiedAlone(device)
      ? await this.#checkedAlone(compiled, secondsLeft)
      : { right: contestants, failed: [] };
    const field: Field = {
      ...{ contestants: checked.right, failed: [...failed, ...checked.failed] },
      ...{ hasDefault: !isSlow, leastProcesses: 0, mostProcesses: PROCESSES },
      strata: placements.map((placement) => ({ placement, build: 0 })),
      time: async (names, stratum) => {
        const processes: TimedProcess[] = [];
        for (const [i, module] of modules.entries()) {
          const own = names.filter((name) => isBuilt(module.build, name));
          if (own.length === 0 && names.length > 0) continue;
          // A hanging candidate must not use up the time of the others.
          const seconds = secondsLeft() / (modules.length - i);
          if (seconds <= 0) break;
          const process = await this.#timer.time(module, own, stratum, SCREENING, seconds);
          processes.push(isSlow ? { ...process, defaultSeconds: alone } : process);
        }
        return processes;
      },
    };
    const raced = await race(field, WHICH_ARE_FAST, () => secondsLeft() > 0);
    return { ...raced, problem: null };
  }

  /** Contestants that are right in a process of their own, and those that fail in it. Those for which no time is left are neither. */
  async #checkedAlone(parts: readonly Part[], secondsLeft: () => number) {
    const [toolchain, workload] = [this.#toolchain, this.#workload];
    const right: Contestant[] = [];
    const failed: Failure[] = [];
    for (const [i, { build, built }] of parts.entries()) {
      const modules = build.module && (await loadedWith(toolchain, workload, build.module));
      if (!modules) continue;
      this.#reference ??= await referenceAlone(toolchain, workload, modules, DEFAULT_NAME);
      if (this.#reference === null) continue;
      const names = built.map(({ name }) => name);
      const limit = secondsLeft() / (parts.length - i);
      const checked = await checkedAlone(toolchain, workload, modules, names, this.#reference, limit);
      for (const one of built) {
        const verification = checked.get(one.name);
        if (verification?.outcome === 'right') right.push(one);
        else if (verification !== undefined)
          failed.push({
            configuration: one.configuration,
            outcome: 'run-error',
            reason: verification.reason,
          });
      }
    }
    return { right, failed };
  }

  /** Why the default does not compile or run; null if the reason is a busy machine. @param failed the ending of its run */
  async #problemOf(build: Build, timeoutSeconds: number, failed?: string): Promise<string | null> {
    const refused = build.refused.get(DEFAULT_NAME);
    if (refused !== undefined) return `the default does not compile: ${refused}`;
    // The compile ran out of time.
    if (!isBuilt(build, DEFAULT_NAME)) return null;
    if (failed?.startsWith('took longer') !== true)
      return `${DOES_NOT_RUN}: ${failed ?? 'no timing was reported'}`;
    // A time-out blames the default only on a machine that starts anything else in time.
    const { benchmarkModule, signal } = this.#toolchain;
    const start = runTool(benchmarkModule, ['--list_drivers'], timeoutSeconds * DEFAULT_SHARE, signal);
    return (await start).timedOut
      ? null
      : `the default is too slow to compare anything with it: one run ${failed}`;
  }

  get #isSlow(): boolean {
    return this.#timer.defaultSeconds > SLOW_DEFAULT_SECONDS;
  }
}
