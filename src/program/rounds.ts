// Rounds tune many workloads at once. Each round compiles and runs the program with one configuration of every workload. A compile of the
// program costs about as much as a compile of a few candidates, and the statistics give the time of each dispatch. Pure.
import { configurationKey } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean, leading, sumOf } from '../measure/statistics.ts';
import { counterpart } from '../search/counterpart.ts';
import type { Point, SearchSpace } from '../search/space.ts';
import { seededRandom, type Strategy, type StrategyFactory } from '../search/strategy.ts';
import type { Rated } from '../tuning/worth.ts';

type Space = SearchSpace<Configuration>;

/** A workload that is tuned in a program. */
export interface Contender {
  readonly key: string;
  /** The same for workloads that search together: see `Kin`. */
  readonly kin: string;
  /** Without configurations that change the whole program. */
  readonly space: Space;
  /** Share of the default's time in the time of all contenders. */
  readonly share: number;
}

/** The configurations of one round, by workload key. */
export type Assignment = ReadonlyMap<string, Configuration>;

/** By workload key: default time over the configuration's time; null if it does not compile. */
export type Outcomes = ReadonlyMap<string, number | null>;

/** Search state of one workload. */
interface Search {
  readonly contender: Contender;
  readonly kin: Kin;
  /** Points of the common space, by the keys of configurations. */
  readonly tried: Map<string, Point>;
  /** Configurations whose round gave no time. */
  readonly again: Configuration[];
  best: Rated | null;
}

/** A round that gains less of the contenders' time than this counts as idle. */
const LEAST_PROGRESS = 0.005;

/** Rounds end after this many idle ones in a row. */
const PATIENCE = 6;

/**
 * The first rounds are for workloads with this share of the time, and their kin. A program that takes long to compile has no others, and each workload
 * takes time to propose for and to compile.
 */
const [FIRST_ROUNDS, FIRST_SHARE] = [2, 0.98];

/** A workload first tries a configuration whose ratio for its kin is this much above its own best. */
const LEAST_PROMISE = 1.02;

export class Rounds {
  #searches: readonly Search[];
  /** Kin of the first rounds. */
  readonly #first: ReadonlySet<Kin>;
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
    const first = leading(this.#searches, FIRST_SHARE, ({ contender }) => contender.share);
    this.#first = new Set(first.map(({ kin }) => kin));
  }

  /** Observed rounds. */
  get count(): number {
    return this.#rounds;
  }

  /** Whether the last rounds gained too little to continue. */
  get isIdle(): boolean {
    return this.#idle >= PATIENCE;
  }

  /** Speed-up of all contenders together, each with its best configuration. */
  get ratio(): number {
    const saved = this.#searches.map(
      ({ contender, best }) => contender.share * (1 - 1 / Math.max(1, best?.ratio ?? 1)),
    );
    return 1 / (1 - sumOf(saved));
  }

  /** Continues with these workloads only. */
  keepOnly(keys: { has(key: string): boolean }): void {
    this.#searches = this.#searches.filter(({ contender }) => keys.has(contender.key));
  }

  /** Assignments of the next `count` rounds, which are compiled at once; fewer if there is less to try. */
  propose(count: number): Assignment[] {
    const first =
      this.#rounds < FIRST_ROUNDS ? this.#proposeFor(({ kin }) => this.#first.has(kin), count) : [];
    return first.length > 0 ? first : this.#proposeFor(() => true, count);
  }

  #proposeFor(isDue: (search: Search) => boolean, count: number): Assignment[] {
    const assignments = Array.from({ length: count }, () => new Map<string, Configuration>());
    let isNew = 0;
    for (const search of this.#searches) {
      const some = isDue(search) ? this.#some(search, count) : [];
      isNew = Math.max(isNew, some.length);
      for (const [i, assignment] of assignments.entries()) {
        const configuration = some[i] ?? search.best?.configuration;
        if (configuration !== undefined) assignment.set(search.contender.key, configuration);
      }
    }
    return assignments.slice(0, isNew);
  }

  /** @param outcomes without the workloads whose time is unknown; their configurations are tried again */
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
   * The best configuration of each workload with a ratio of at least `least`: its own best, or an untried one that is better for its
   * kin.
   */
  bestFrom(least: number): Map<string, Rated> {
    return new Map(
      this.#searches.flatMap((search) => {
        const best = promiseOf(search) ?? search.best;
        return best !== null && best.ratio >= least ? [[search.contender.key, best] as const] : [];
      }),
    );
  }

  /** Configurations to try: first those without a time, then the best of its kin, then new ones. */
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

/** An untried configuration that is better for the workload's kin than the workload's own best. */
function promiseOf(search: Search): (Rated & Idea) | null {
  const { contender, kin, best } = search;
  return kin.best(contender.space, isTriedIn(search), LEAST_PROMISE * Math.max(1, best?.ratio ?? 0));
}

/** A point of the common space, with the speed-up of each workload that tried it. */
interface Tried {
  readonly point: Point;
  readonly ratios: number[];
}

/** A configuration for one workload, and its point in the common space. */
interface Idea {
  readonly configuration: Configuration;
  readonly point: Point;
}

/**
 * The common search of workloads that gain about as much by the same configuration. Each tries different configurations, and the others
 * then try the good ones.
 */
class Kin {
  readonly #space: Space;
  readonly #strategy: Strategy;
  readonly #tried = new Map<string, Tried>();
  #begun = 0;

  /** @param space common space of all points: that of the workload with the largest share */
  constructor(space: Space, strategy: StrategyFactory) {
    this.#space = space;
    this.#strategy = strategy(space, seededRandom(1));
  }

  /** The others' best configuration that this workload has not tried; null if its ratio is below `least`. */
  best(
    own: Space,
    isTried: (configuration: Configuration) => boolean,
    least: number,
  ): (Idea & { readonly ratio: number }) | null {
    const ranked = [...this.#tried.values()]
      .flatMap(({ point, ratios }) => (ratios.length === 0 ? [] : [{ point, ratio: geometricMean(ratios) }]))
      .filter(({ ratio }) => ratio >= least)
      .sort((a, b) => b.ratio - a.ratio);
    for (const { point, ratio } of ranked) {
      const idea = this.#ideaFor(own, point);
      if (idea !== null && !isTried(idea.configuration)) return { ...idea, ratio };
    }
    return null;
  }

  /** A new configuration; null if there is none. Workloads of the first round take the starts in turn, and repeat them if they are few. */
  next(own: Space, isTried: (configuration: Configuration) => boolean): Idea | null {
    const { starts } = this.#space;
    const isBeginning = () => this.#begun >= starts.length && this.#tried.size === 0;
    for (let misses = 0; misses < MOST_MISSES; misses++) {
      const point = isBeginning() ? starts[this.#begun % starts.length] : this.#strategy.propose(1)[0];
      this.#begun++;
      if (point === undefined) return null;
      const idea = this.#ideaFor(own, point);
      if (idea !== null && !isTried(idea.configuration)) return idea;
    }
    return null;
  }

  /** @param ratio default time over the configuration's time; null if it does not compile */
  observe(point: Point, ratio: number | null): void {
    const key = point.join();
    const tried = this.#tried.get(key) ?? { point, ratios: [] };
    this.#tried.set(key, tried);
    if (ratio !== null) tried.ratios.push(ratio);
    const cost = tried.ratios.length === 0 ? null : 1 / geometricMean(tried.ratios);
    this.#strategy.observe([{ point, cost }]);
  }

  #ideaFor(own: Space, point: Point): Idea | null {
    const there = counterpart(point, this.#space, own);
    const configuration = there && own.configurationAt(there);
    return configuration && { configuration, point };
  }
}

/** The search for a new configuration ends after this many points in a row that the workload cannot use or has tried. */
const MOST_MISSES = 64;
