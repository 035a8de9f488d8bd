// Screening: many configurations, few repetitions each, compiled and timed together.
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationKey } from '../backend/index.ts';
import { buildCandidates, isBuilt, isLinked, type Build } from '../measure/build.ts';
import { candidateOf, stockCandidate, type Candidate } from '../measure/candidate-module.ts';
import { timeCandidates, type CandidateTimings } from '../measure/candidate-timings.ts';
import { placementsHere, type Placement } from '../measure/placement.ts';
import { geometricMean, sumOf } from '../measure/statistics.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import type { Configuration } from '../backend/configuration.ts';
import type { OperationWork } from '../workload/workload.ts';
import type { Batch, BatchProcess, ReadyBatch, Screened } from './bench.ts';
import { isTooBusy } from './busy.ts';
import { DOES_NOT_RUN } from './undecided.ts';

/** Name of the default's function in every candidate module. */
export const DEFAULT_NAME = 'stock';

/** A default slower than this is timed once and not again in every batch: the batch would wait for nothing else. */
const SLOW_DEFAULT_SECONDS = 0.5;

/** Repetitions, and the least seconds in each. */
interface Care {
  readonly repetitions: number;
  readonly minSeconds: number;
}

/** Seconds that each is timed for, in as many repetitions as there can be, but more where the default alone takes longer. */
const TIMED_SECONDS = 0.03;
const MOST_REPETITIONS = 12;

/** Fewer in one process do not show a disturbance. */
const LEAST_REPETITIONS = 3;

/** Limit of all repetitions of the default together, in seconds. */
const RUNS_SECONDS = 0.1;

/**
 * So long, in seconds, the default is run twice in any case: what is called for the first time is given its memory page by page,
 * and what needs memory of its own, to pack operands into, looks almost twice as slow as it is.
 */
const RUN_TWICE_SECONDS = 0.2;

/** Where one run of the default takes more than this share of the time, nothing can be compared with it in time. */
const DEFAULT_SHARE = 0.08;

/** With a slow default, the candidates' share of the first batch: as much again is left if some hang, and for the finals. */
const FIRST_BATCH_SHARE = 0.3;

/**
 * So many configurations are timed in both placements of operands: what is luck in one of them would lead the search. A few are a
 * short look, for which another process takes too long.
 */
const LEAST_FOR_PLACEMENTS = 6;

/** A candidate that is so many times slower than the default need not be measured to its end. */
const HOPELESS = 20;

/** Limit of loading a module on a busy machine. */
const START_SECONDS = 5;

/** Result of one process. */
interface Timed extends CandidateTimings {
  readonly placement: Placement;
}

/** Configurations that are compiled beside the default. */
export interface CompiledTogether {
  readonly build: Build;
  /** By key: their names in it. */
  readonly names: ReadonlyMap<string, string>;
}

/** A part of a batch, compiled. */
interface CompiledBatch {
  readonly candidates: readonly Candidate[];
  readonly build: Build;
}

/** Fewer configurations are compiled as one module. */
const LEAST_TO_DIVIDE = 6;

/**
 * Batches that were timed one after the other, as one: times of a later one are made comparable by the default that was timed with it.
 * @param parts those that were not timed come last
 */
function asOne(batches: readonly Batch[], parts: readonly CompiledBatch[]): Batch {
  const first = batches.find(({ defaultSeconds }) => defaultSeconds !== null) ?? batches[0]!;
  const count = (part: CompiledBatch) => part.candidates.length;
  const before = (part: number) => parts.slice(0, part).reduce((sum, one) => sum + count(one), 0);
  const all = before(parts.length);
  const results = parts.flatMap((part, i): readonly Screened[] => {
    const batch = batches[i];
    if (batch === undefined) return part.candidates.map(() => ({ outcome: 'untried' }));
    return batch.results.map((result) =>
      result.outcome === 'measured'
        ? { ...result, seconds: comparable(result.seconds, batch.defaultSeconds, first.defaultSeconds) }
        : result,
    );
  });
  const processes = batches.flatMap((batch, i) =>
    batch.processes.map((process): BatchProcess => {
      const seconds = Array<readonly number[] | null>(all).fill(null);
      seconds.splice(before(i), process.seconds.length, ...process.seconds);
      return { ...process, seconds };
    }),
  );
  return {
    ...{ defaultSeconds: first.defaultSeconds, results, processes },
    // What runs in one module does run.
    problem: first.defaultSeconds === null ? (batches.at(-1)?.problem ?? null) : null,
    repetitions: sumOf(batches.map(({ repetitions }) => repetitions)),
  };
}

/** Seconds as they would be beside another time of the default. */
const comparable = (
  seconds: readonly number[],
  own: readonly number[] | null,
  other: readonly number[] | null,
): readonly number[] =>
  own === null || other === null ? seconds : seconds.map((one, size) => (one * other[size]!) / own[size]!);

/** Times batches of configurations of one workload; remembers how fast the default is. */
export class Screener {
  readonly #toolchain: Toolchain;
  readonly #workload: OperationWork;
  readonly #compiled: CompiledTogether[] = [];
  #batches = 0;
  #placements: readonly Placement[] = [];
  /** Of the default at each size, median seconds; empty until the first batch has run. */
  #defaults: readonly number[] = [];

  constructor(toolchain: Toolchain, workload: OperationWork) {
    this.#toolchain = toolchain;
    this.#workload = workload;
  }

  /**
   * Compiles a batch.
   * @param timeoutSeconds for that
   * @param modules that it may be compiled as at once, each with its own default
   */
  async prepare(
    configurations: readonly Configuration[],
    timeoutSeconds: number,
    modules = 1,
  ): Promise<ReadyBatch> {
    // Without a default, times of two modules could not be compared.
    const isOne = this.#isSlow || !isLinked() || configurations.length < LEAST_TO_DIVIDE;
    const size = Math.ceil(configurations.length / (isOne ? 1 : modules));
    const parts: (readonly Configuration[])[] = [];
    for (let at = 0; at < configurations.length; at += size) parts.push(configurations.slice(at, at + size));
    const compiled = await Promise.all(parts.map((part) => this.#compile(part, timeoutSeconds)));
    return { time: (timeoutSeconds) => this.#timeAll(compiled, timeoutSeconds) };
  }

  async #compile(configurations: readonly Configuration[], timeoutSeconds: number): Promise<CompiledBatch> {
    const candidates = configurations.map((configuration, i) =>
      candidateOf(`c${i}`, configuration, this.#workload, this.#toolchain.release),
    );
    const withDefault = !this.#isSlow;
    const all = withDefault ? [stockCandidate(DEFAULT_NAME), ...candidates] : candidates;
    const [build, placements] = await Promise.all([
      buildCandidates(this.#toolchain, this.#workload, all, `batch${this.#batches++}`, timeoutSeconds),
      placementsHere(this.#toolchain),
    ]);
    this.#placements = placements;
    const names = new Map(configurations.map((one, i) => [configurationKey(one), candidates[i]!.name]));
    if (withDefault) this.#compiled.push({ build, names });
    return { candidates, build };
  }

  async #timeAll(parts: readonly CompiledBatch[], timeoutSeconds: number): Promise<Batch> {
    const end = performance.now() / 1000 + timeoutSeconds;
    const batches: Batch[] = [];
    for (const { candidates, build } of parts) {
      const left = Math.max(timeoutSeconds / parts.length, end - performance.now() / 1000);
      batches.push(await this.#batch(candidates, build, left));
      // The default does not run in another module, either.
      if (batches.at(-1)!.problem !== null) break;
    }
    return parts.length === 1 ? batches[0]! : asOne(batches, parts);
  }

  /** The batch with the default and all of these in one module; null for none. */
  compiledWith(configurations: readonly Configuration[]): CompiledTogether | null {
    const keys = configurations.map(configurationKey);
    const isWhole = ({ build, names }: CompiledTogether) =>
      isBuilt(build, DEFAULT_NAME) && keys.every((key) => names.has(key) && isBuilt(build, names.get(key)!));
    return this.#compiled.findLast(isWhole) ?? null;
  }

  async #batch(candidates: readonly Candidate[], build: Build, timeoutSeconds: number): Promise<Batch> {
    const isFirst = this.#defaults.length === 0;
    const processes =
      build.module === null
        ? []
        : await this.#time(
            build.module,
            build.built.map(({ name }) => name).filter((name) => name !== DEFAULT_NAME || !this.#isSlow),
            timeoutSeconds,
          );
    const timings = together(processes);

    const own = timings.seconds.get(DEFAULT_NAME);
    this.#defaults = own ?? this.#defaults;
    const isMissing = this.#defaults.length === 0;
    const defaultSeconds = own ?? (isFirst && !isMissing ? this.#defaults : null);
    return {
      defaultSeconds,
      repetitions: defaultSeconds === null ? 0 : this.#care.repetitions,
      processes: processes.map(({ placement, seconds }): BatchProcess => ({
        placement,
        defaultSeconds: seconds.get(DEFAULT_NAME) ?? null,
        seconds: candidates.map(({ name }) => seconds.get(name) ?? null),
      })),
      // Without time to compile the default nobody can tell.
      problem:
        isMissing && (build.refused.has(DEFAULT_NAME) || isBuilt(build, DEFAULT_NAME))
          ? await this.#problemOf(
              build.refused.get(DEFAULT_NAME),
              timings.failed.get(DEFAULT_NAME),
              timeoutSeconds * DEFAULT_SHARE,
            )
          : null,
      results: candidates.map(({ name }): Screened => {
        const refusal = build.refused.get(name);
        if (refusal !== undefined) return { outcome: 'compile-error', message: refusal };
        if (!isBuilt(build, name)) return { outcome: 'untried' };
        const seconds = timings.seconds.get(name);
        if (seconds !== undefined) return { outcome: 'measured', seconds };
        const message = timings.failed.get(name) ?? 'no timing was reported';
        return { outcome: message.startsWith('took longer') ? 'timeout' : 'run-error', message };
      }),
    };
  }

  /** Why the default did not compile or run. @param timeoutSeconds limit of another look */
  async #problemOf(refused: string | undefined, failed: string | undefined, timeoutSeconds: number) {
    if (refused !== undefined) return `the default does not compile: ${refused}`;
    if (failed?.startsWith('took longer') !== true)
      return `${DOES_NOT_RUN}: ${failed ?? 'no timing was reported'}`;
    return (await isTooBusy(this.#toolchain, timeoutSeconds))
      ? null
      : `the default is too slow to compare anything with it: one run ${failed}`;
  }

  /** Seconds of the default at all sizes; 0 until it was timed. */
  get #defaultRun(): number {
    return this.#defaults.reduce((sum, seconds) => sum + seconds, 0);
  }

  get #isSlow(): boolean {
    return this.#defaultRun > SLOW_DEFAULT_SECONDS;
  }

  get #care(): Care {
    const fitting = Math.floor(RUNS_SECONDS / this.#defaultRun);
    const least = this.#defaultRun > RUN_TWICE_SECONDS ? 1 : 2;
    const repetitions = Math.max(least, Math.min(MOST_REPETITIONS, fitting));
    return { repetitions, minSeconds: TIMED_SECONDS / repetitions };
  }

  async #time(module: string, names: readonly string[], timeoutSeconds: number): Promise<Timed[]> {
    // The compiler's threads have just ended; a short pause lets clocks and caches settle before anything is timed.
    await sleep(20);
    if (this.#defaults.length === 0) {
      // The first batch begins with the default alone, so that nothing is timed ten times before we know how slow it is.
      const first = await timeCandidates(this.#toolchain, this.#workload, module, [DEFAULT_NAME], {
        repetitions: 1,
        minSeconds: 0.005,
        timeoutSeconds: timeoutSeconds * DEFAULT_SHARE,
        only: [DEFAULT_NAME],
      });
      this.#defaults = first.seconds.get(DEFAULT_NAME) ?? [];
      if (this.#defaults.length === 0) return [{ ...first, placement: 'apart' }];
      if (this.#isSlow) {
        const rest = names.filter((name) => name !== DEFAULT_NAME);
        return this.#timeBatch(module, rest, rest, timeoutSeconds * FIRST_BATCH_SHARE);
      }
    }
    return this.#timeBatch(module, names, undefined, timeoutSeconds);
  }

  async #timeBatch(
    module: string,
    names: readonly string[],
    only: readonly string[] | undefined,
    timeoutSeconds: number,
  ): Promise<Timed[]> {
    const { repetitions, minSeconds } = this.#care;
    // A candidate that hangs must not take the rest of the budget with it.
    const sizes = this.#defaults.length;
    const longest = Math.max(10 * minSeconds * sizes, HOPELESS * this.#defaultRun);
    const isInBoth = repetitions >= 2 * LEAST_REPETITIONS && names.length > LEAST_FOR_PLACEMENTS;
    const placements = isInBoth ? this.#placements : (['apart'] as const);
    const processes: Timed[] = [];
    let left = names;
    for (const placement of placements) {
      const own = Math.ceil(repetitions / placements.length);
      const isPart = only !== undefined || left.length < names.length;
      const timings = await timeCandidates(this.#toolchain, this.#workload, module, left, {
        repetitions: own,
        minSeconds,
        timeoutSeconds: Math.min(timeoutSeconds, START_SECONDS + left.length * own * longest),
        placement,
        ...(isPart && { only: left }),
      });
      processes.push({ ...timings, placement });
      // A candidate that hangs or crashes does so once.
      left = left.filter((name) => !timings.failed.has(name));
      if (left.length === 0) break;
    }
    return processes;
  }
}

/** Geometric means over all processes; a candidate that failed in one has failed. */
function together(processes: readonly Timed[]): CandidateTimings {
  const failed = new Map(processes.flatMap((one) => [...one.failed]));
  const seconds = new Map<string, readonly number[]>();
  for (const [name, first] of processes[0]?.seconds ?? []) {
    const all = processes.map((one) => one.seconds.get(name));
    if (!failed.has(name) && all.every((one) => one !== undefined))
      seconds.set(
        name,
        first.map((_, size) => geometricMean(all.map((one) => one[size]!))),
      );
  }
  return { seconds, failed };
}
