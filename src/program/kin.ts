// Workloads that are so much alike that a configuration is worth about as much for all of them. They search together: each tries
// something else, and what is good for one is tried by the others. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean } from '../measure/statistics.ts';
import { counterpart } from '../search/counterpart.ts';
import type { Point, SearchSpace } from '../search/space.ts';
import { seededRandom, type Strategy, type StrategyFactory } from '../search/strategy.ts';

type Space = SearchSpace<Configuration>;

/** A point of the space that they search, and what it was worth to those that have tried it. */
interface Tried {
  readonly point: Point;
  readonly ratios: number[];
}

/** A configuration, and the point that it stands for. */
export interface Idea {
  readonly configuration: Configuration;
  readonly point: Point;
}

export class Kin {
  readonly #space: Space;
  readonly #strategy: Strategy;
  readonly #tried = new Map<string, Tried>();
  #begun = 0;

  /** @param space of the one that matters most: points are points of it */
  constructor(space: Space, strategy: StrategyFactory) {
    this.#space = space;
    this.#strategy = strategy(space, seededRandom(1));
  }

  /** The best that the others have found and this one has not tried, where it is worth at least so much. */
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

  /** Something that nobody has tried. Those that begin at once share the starts, again and again if need be. */
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

  /** @param ratio default time over its time; null for one that does not compile */
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

/** So many points in a row that are nothing new for one of them are enough. */
const MOST_MISSES = 64;
