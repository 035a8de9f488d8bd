// Trying many workloads at once: in each round a whole program is compiled and run with one configuration of every workload. A
// compile of the program costs about as much as one of a few candidates by themselves, and the program says of each dispatch what it
// takes. Pure.
import { configurationKey } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { sumOf } from '../measure/statistics.ts';
import type { Point, SearchSpace } from '../search/space.ts';
import { seededRandom, type Strategy, type StrategyFactory } from '../search/strategy.ts';

/** A workload that is tried in a program. */
export interface Contender {
  readonly key: string;
  /** Without what asks something of the whole program. */
  readonly space: SearchSpace<Configuration>;
  /** Its share of the program's time by default, of all that is tried. */
  readonly share: number;
}

/** The configurations that workloads have in one round, by key. */
export type Assignment = ReadonlyMap<string, Configuration>;

/** What a configuration is worth in the program: default time over its time, or null when it does not compile. */
export type Outcomes = ReadonlyMap<string, number | null>;

/** The best that was found for a workload. */
export interface Best {
  readonly configuration: Configuration;
  readonly ratio: number;
}

/** What one workload has still to try. */
interface Search {
  readonly contender: Contender;
  readonly strategy: Strategy;
  readonly pointOf: Map<string, Point>;
  /** What a round could not tell. */
  readonly again: Configuration[];
  best: Best | null;
}

/** A gain that is less than this share of the program's time does not keep rounds going. */
const LEAST_PROGRESS = 0.005;

/** So many rounds in a row without one are the last. */
const PATIENCE = 6;

export class Rounds {
  #searches: readonly Search[];
  #rounds = 0;
  #idle = 0;

  constructor(contenders: readonly Contender[], strategy: StrategyFactory) {
    this.#searches = contenders.map((contender) => ({
      contender,
      strategy: strategy(contender.space, seededRandom(1)),
      pointOf: new Map(),
      again: [],
      best: null,
    }));
  }

  /** Rounds that were told of. */
  get count(): number {
    return this.#rounds;
  }

  /** Whether the last rounds have brought too little for more of them. */
  get isIdle(): boolean {
    return this.#idle >= PATIENCE;
  }

  /** How many times as fast as by default all contenders are together, each with its best. */
  get ratio(): number {
    const saved = this.#searches.map(
      ({ contender, best }) => contender.share * (1 - 1 / Math.max(1, best?.ratio ?? 1)),
    );
    return 1 / (1 - sumOf(saved));
  }

  /** Goes on with these alone. */
  keepOnly(keys: { has(key: string): boolean }): void {
    this.#searches = this.#searches.filter(({ contender }) => keys.has(contender.key));
  }

  /** What to try in so many rounds that are compiled at once; fewer where there is less to try. */
  propose(count: number): Assignment[] {
    const assignments = Array.from({ length: count }, () => new Map<string, Configuration>());
    let isNew = 0;
    for (const search of this.#searches) {
      const some = this.#some(search, count);
      isNew = Math.max(isNew, some.length);
      for (const [i, assignment] of assignments.entries()) {
        const configuration = some[i] ?? search.best?.configuration;
        if (configuration !== undefined) assignment.set(search.contender.key, configuration);
      }
    }
    return assignments.slice(0, isNew);
  }

  /** @param outcomes of what could be told; the others are tried again */
  observe(assignment: Assignment, outcomes: Outcomes): void {
    let gain = 0;
    for (const search of this.#searches) {
      const { contender, strategy, pointOf, again } = search;
      const configuration = assignment.get(contender.key);
      if (configuration === undefined) continue;
      const ratio = outcomes.get(contender.key);
      if (ratio === undefined) {
        again.push(configuration);
        continue;
      }
      const point = pointOf.get(configurationKey(configuration));
      if (point !== undefined) strategy.observe([{ point, cost: ratio === null ? null : 1 / ratio }]);
      if (ratio === null) continue;
      const isAgain =
        search.best !== null &&
        configurationKey(search.best.configuration) === configurationKey(configuration);
      const before = Math.max(1, search.best?.ratio ?? 0);
      if (isAgain || ratio > (search.best?.ratio ?? 0)) search.best = { configuration, ratio };
      if (!isAgain && ratio > before) gain += contender.share * (1 / before - 1 / ratio);
    }
    this.#rounds++;
    this.#idle = gain < LEAST_PROGRESS ? this.#idle + 1 : 0;
  }

  /** The best of each workload that is at least so many times as fast as the default. */
  bestFrom(least: number): Map<string, Best> {
    return new Map(
      this.#searches.flatMap(({ contender, best }) =>
        best !== null && best.ratio >= least ? [[contender.key, best] as const] : [],
      ),
    );
  }

  #some({ contender: { space }, strategy, pointOf, again }: Search, count: number): Configuration[] {
    const found = again.splice(0, count);
    if (found.length === count) return found;
    const points = strategy.propose(count - found.length);
    const proposed = points.map((point) => space.configurationAt(point)!);
    for (const [i, configuration] of proposed.entries())
      pointOf.set(configurationKey(configuration), points[i]!);
    return [...found, ...proposed];
  }
}
