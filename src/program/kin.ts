// The common search of workloads that gain about as much by the same configuration. Each tries different configurations, and the others
// then try the good ones. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean } from '../measure/statistics.ts';
import { counterpart } from '../search/counterpart.ts';
import type { Point, SearchSpace } from '../search/space.ts';
import { seededRandom, type Strategy, type StrategyFactory } from '../search/strategy.ts';

type Space = SearchSpace<Configuration>;

/** A point of the common space, with the speed-up of each workload that tried it. */
interface Tried {
  readonly point: Point;
  readonly ratios: number[];
}

/** A configuration for one workload, and its point in the common space. */
export interface Idea {
  readonly configuration: Configuration;
  readonly point: Point;
}

export class Kin {
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
