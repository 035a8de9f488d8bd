// Which configuration is how much faster than the default, from batches whose seconds cannot be compared. Pure.
import type { Configuration } from '../backend/configuration.ts';
import { configurationKey } from '../backend/index.ts';
import { geometricMean, median } from '../measure/statistics.ts';
import type { Batch } from './bench.ts';
import { worthOf } from './worth.ts';

export interface Ranked {
  readonly configuration: Configuration;
  /** As `worthOf`, of the medians over the processes that it was timed in. */
  readonly ratio: number;
}

/**
 * Ranks configurations by their ratio to the default in the same batch. Where that is too slow to be in every batch, one
 * configuration links them, the best of the last batch that the default was in: it is timed again in each. Always the same one,
 * for the best so far has been lucky, and what each of several lucky ones adds would come to a multiple.
 */
export class Ranks {
  /** By key: of each time that it was measured, logarithms of the gain at each size. */
  readonly #known = new Map<string, { configuration: Configuration; gains: (readonly number[])[] }>();
  /** What the default takes, or would take, in the latest batch, at each size. */
  #defaults: readonly number[] = [];
  /** What links the batches since the default was timed; null where nothing does. */
  #link: Configuration | null = null;
  /** Whether the latest batch had no default. */
  #isLinked = false;

  /** Seconds of the default in the latest batch, at each size; empty before it was timed. */
  get defaults(): readonly number[] {
    return this.#defaults;
  }

  /** Takes in the processes of a batch. */
  observe({ contestants, processes }: Pick<Batch, 'contestants' | 'processes'>): void {
    const isLinked = processes.every(({ defaultSeconds }) => defaultSeconds === null);
    const linkKey = this.#link && configurationKey(this.#link);
    const linkName = contestants.find(
      ({ configuration }) => configurationKey(configuration) === linkKey,
    )?.name;
    const linked = linkName === undefined || !isLinked ? null : this.#medians(this.#link!);
    const defaults: (readonly number[])[] = [];
    for (const { defaultSeconds, seconds } of processes) {
      const again = linked && seconds.get(linkName!);
      const stock =
        defaultSeconds ??
        again?.map((one, size) => one * Math.exp(linked![size]!)) ??
        (this.#defaults.length > 0 ? this.#defaults : null);
      if (stock === null) continue;
      defaults.push(stock);
      for (const { name, configuration } of contestants) {
        const own = seconds.get(name);
        // What links says nothing new of itself.
        if (own === undefined || (isLinked && name === linkName)) continue;
        const key = configurationKey(configuration);
        const known = this.#known.get(key) ?? { configuration, gains: [] };
        known.gains.push(own.map((one, size) => Math.log(stock[size]! / one)));
        this.#known.set(key, known);
      }
    }
    if (defaults.length === 0) return;
    this.#defaults = defaults[0]!.map((_, size) => geometricMean(defaults.map((one) => one[size]!)));
    this.#isLinked = isLinked;
    const isAgain = linkName !== undefined && processes.some(({ seconds }) => seconds.has(linkName));
    if (!isLinked || !isAgain) this.#link = this.incumbent?.configuration ?? null;
  }

  /** How many times as fast as the default a configuration is; null when it was not timed. */
  ratioOf(configuration: Configuration): number | null {
    const medians = this.#medians(configuration);
    return medians && worthOf(medians.map(Math.exp));
  }

  /** What is timed again in the next batch: the best so far, which may have been lucky, and what links that batch to the others. */
  get timedAgain(): readonly Configuration[] {
    const incumbent = this.incumbent?.configuration ?? null;
    const link = this.#isLinked ? this.#link : null;
    return [...new Set([incumbent, link])].filter((one) => one !== null);
  }

  /** The best so far. */
  get incumbent(): Ranked | null {
    return this.best(1)[0] ?? null;
  }

  /** The best so far, best first. */
  best(count: number): Ranked[] {
    return [...this.#known.values()]
      .map(({ configuration }) => ({ configuration, ratio: this.ratioOf(configuration)! }))
      .sort((a, b) => b.ratio - a.ratio)
      .slice(0, count);
  }

  #medians(configuration: Configuration): number[] | null {
    const gains = this.#known.get(configurationKey(configuration))?.gains;
    if (gains === undefined) return null;
    return gains[0]!.map((_, size) => median(gains.map((own) => own[size]!)));
  }
}
