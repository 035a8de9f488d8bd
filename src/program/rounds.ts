// Trying many workloads at once: in each round a whole program is compiled and run with one configuration of every workload. A
// compile of the program costs about as much as one of a few candidates by themselves, and the program says of each dispatch what it
// takes. Pure.
import { configurationKey } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { sumOf } from '../measure/statistics.ts';
import type { Point, SearchSpace } from '../search/space.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import { Kin, type Idea } from './kin.ts';

/** A workload that is tried in a program. */
export interface Contender {
  readonly key: string;
  /** Equal for those that a configuration is worth about as much for. */
  readonly kin: string;
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

/** What one workload has tried. */
interface Search {
  readonly contender: Contender;
  readonly kin: Kin;
  /** Points of its kin, by the keys of configurations. */
  readonly tried: Map<string, Point>;
  /** What a round could not tell. */
  readonly again: Configuration[];
  best: Best | null;
}

/** A gain that is less than this share of the program's time does not keep rounds going. */
const LEAST_PROGRESS = 0.005;

/** So many rounds in a row without one are the last. */
const PATIENCE = 6;

/** A workload tries what is worth so much more to its kin than its own best before anything new. */
const LEAST_PROMISE = 1.02;

export class Rounds {
  #searches: readonly Search[];
  #rounds = 0;
  #idle = 0;

  constructor(contenders: readonly Contender[], strategy: StrategyFactory) {
    const byShare = contenders.toSorted((a, b) => b.share - a.share);
    const families = new Map<string, Kin>();
    this.#searches = byShare.map((contender) => {
      const kin = families.get(contender.kin) ?? new Kin(contender.space, strategy);
      families.set(contender.kin, kin);
      return { contender, kin, tried: new Map<string, Point>(), again: [], best: null };
    });
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
      const { contender, kin, tried, again } = search;
      const configuration = assignment.get(contender.key);
      if (configuration === undefined) continue;
      const ratio = outcomes.get(contender.key);
      if (ratio === undefined) {
        again.push(configuration);
        continue;
      }
      const key = configurationKey(configuration);
      const point = tried.get(key);
      if (point !== undefined) kin.observe(point, ratio);
      if (ratio === null) continue;
      const isAgain = search.best !== null && configurationKey(search.best.configuration) === key;
      const before = Math.max(1, search.best?.ratio ?? 0);
      if (isAgain || ratio > (search.best?.ratio ?? 0)) search.best = { configuration, ratio };
      if (!isAgain && ratio > before) gain += contender.share * (1 / before - 1 / ratio);
    }
    this.#rounds++;
    this.#idle = gain < LEAST_PROGRESS ? this.#idle + 1 : 0;
  }

  /**
   * The best of each workload that is at least so many times as fast as the default: what it has tried, or what is better for its
   * kin.
   */
  bestFrom(least: number): Map<string, Best> {
    return new Map(
      this.#searches.flatMap((search) => {
        const best = promiseOf(search) ?? search.best;
        return best !== null && best.ratio >= least ? [[search.contender.key, best] as const] : [];
      }),
    );
  }

  /** What could not be told before, the best of its kin, then what is new. */
  #some(search: Search, count: number): Configuration[] {
    const { contender, kin, tried, again } = search;
    const found = again.splice(0, count);
    let promise = found.length < count ? promiseOf(search) : null;
    while (found.length < count) {
      const idea = promise ?? kin.next(contender.space, isTriedIn(search));
      promise = null;
      if (idea === null) break;
      tried.set(configurationKey(idea.configuration), idea.point);
      found.push(idea.configuration);
    }
    return found;
  }
}

const isTriedIn =
  ({ tried }: Search) =>
  (configuration: Configuration): boolean =>
    tried.has(configurationKey(configuration));

/** What is worth more to its kin than anything that a workload has tried. */
function promiseOf(search: Search): (Best & Idea) | null {
  const { contender, kin, best } = search;
  return kin.best(contender.space, isTriedIn(search), LEAST_PROMISE * Math.max(1, best?.ratio ?? 0));
}
